/**
 * SQL for the version of the organization $1. Part of the statement that reads the organization's data, so both come from one
 * snapshot, whatever was committed since the API key was looked up.
 */
export const VERSION = '(select version::text from organizations where organizations.id = $1)';
