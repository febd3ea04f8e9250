/**
 * The version of the organization $1, read in the statement that reads its data: of the data as they are there, whatever was
 * committed since the key was looked up.
 */
export const VERSION = '(select version from organizations where organizations.id = $1)::text';
