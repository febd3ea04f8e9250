/** For a report with a key of a moving organization. The rest of the report has been carried out. */
export const MOVING_NOTE =
  'Charter is moving some of the data at the moment, so not every key may be revoked yet. Send the report again in a few minutes.';

export const MOVING_RETRY_SECONDS = 5;
