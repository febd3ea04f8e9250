// Generated from openapi/ by "npm run generate". Do not edit.
export interface paths {
    "/api/parent_programs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List parent programs
         * @description Returns a page of the parent programs of your organization. If you combine filters, only parent programs that
         *     match all of them are listed.
         *
         *     To get the next page, follow the `Link` header or send `next_cursor` as `cursor`. The last page has no `Link` header,
         *     and its `next_cursor` is null. If parent programs are created or deleted while you read, all others still appear
         *     exactly once, as long as the values that you sort by do not change.
         *
         *     Send the last `ETag` of the same URL in `If-None-Match` to get 304 if nothing has changed.
         */
        get: operations["listParentPrograms"];
        put?: never;
        /**
         * Create a parent program
         * @description Creates a parent program in your organization.
         *
         *     Send an `Idempotency-Key` so that you can safely retry the request after a timeout. For 24 hours, a request with
         *     the same idempotency key and the same body creates nothing and returns the first response again, even if the
         *     parent program has changed in the meantime.
         */
        post: operations["createParentProgram"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/parent_programs/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change many parent programs
         * @description Makes up to 100 changes in one request, in their order: each one creates, upserts, updates or deletes a parent program.
         *     The body can have up to 1 MiB.
         *
         *     Each change has the outcome of the request that makes only this change, after the changes before it: `results` has
         *     its status and the parent program or the exception, in the order of `changes`. A change that is refused does not
         *     keep the others from being made. With `atomic`, all changes are made or none is: if one is refused, the response is
         *     the 409, 412 or 422 of the first one, or 422 for a parent program that does not exist, and `errors` names each one
         *     that is refused.
         *
         *     Each change adds an event to the feed, and counts as a request to the rate limits. A batch is not refused for having
         *     more changes than the limits allow at once; the requests after it wait instead.
         *
         *     Send an `Idempotency-Key` so that you can safely retry the request after a timeout. For 24 hours, a request with the
         *     same idempotency key and the same body changes nothing and returns the first response again.
         */
        post: operations["batchParentPrograms"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/parent_programs/by_external_id/{external_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a parent program by your own ID
         * @description Returns the parent program of your organization that has your own ID, as `GET /api/parent_programs/{id}` does. An
         *     `external_id` that only another organization has gets the same 404 as one that does not exist.
         *
         *     Send its last `ETag` in `If-None-Match` to get 304 if it has not changed. The `ETag` is the same at both paths.
         *
         *     Percent-encode the `external_id` in the path, a slash in it too. Most HTTP clients cannot send the IDs `.` and `..`
         *     in a path; use the parameter `external_id` of `GET /api/parent_programs` for these.
         */
        get: operations["getParentProgramByExternalId"];
        /**
         * Create or replace a parent program
         * @description Creates the parent program with your own ID, or replaces the content of the one that has it. A field that you omit
         *     gets the value that it has after a creation without it: `description` becomes null, and `metadata` becomes empty.
         *     To change single fields instead, use `PATCH /api/parent_programs/{id}`.
         *
         *     The request is safe to repeat: a request that changes nothing returns 200, and `updated_at` stays as it is.
         *
         *     Send `If-None-Match: *` to create but never replace, and `If-Match` to replace but never create, or only replace what
         *     you have read. If the condition is not met, the response is 412.
         *
         *     Percent-encode the `external_id` in the path, a slash in it too. Most HTTP clients cannot send the IDs `.` and `..`
         *     in a path; send these to `POST /api/parent_programs/batch`.
         */
        put: operations["upsertParentProgram"];
        post?: never;
        /**
         * Delete a parent program by your own ID
         * @description Permanently deletes the parent program of your organization that has your own ID. Its `external_id` can then be used
         *     again.
         *
         *     Send the last `ETag` that you received in `If-Match` to avoid deleting changes that you have not seen: if the
         *     parent program has changed in the meantime, the response is 412.
         *
         *     An `external_id` that only another organization has gets the same 404 as one that does not exist or whose parent
         *     program was already deleted.
         *
         *     Percent-encode the `external_id` in the path, a slash in it too. Most HTTP clients cannot send the IDs `.` and `..`
         *     in a path; send these to `POST /api/parent_programs/batch`.
         */
        delete: operations["deleteParentProgramByExternalId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/parent_programs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a parent program
         * @description Returns one parent program of your organization. An ID that belongs to another organization gets the same 404 as
         *     an ID that does not exist.
         *
         *     Send its last `ETag` in `If-None-Match` to get 304 if it has not changed.
         */
        get: operations["getParentProgram"];
        put?: never;
        post?: never;
        /**
         * Delete a parent program
         * @description Permanently deletes one parent program of your organization. Its `external_id` can then be used again.
         *
         *     Send the last `ETag` that you received in `If-Match` to avoid deleting changes that you have not seen: if the
         *     parent program has changed in the meantime, the response is 412.
         *
         *     An ID that belongs to another organization gets the same 404 as an ID that does not exist or that was already
         *     deleted.
         */
        delete: operations["deleteParentProgram"];
        options?: never;
        head?: never;
        /**
         * Update a parent program
         * @description Changes the fields that you send and keeps the others. The body is a JSON merge patch (RFC 7396). You can send it as
         *     `application/json` or as `application/merge-patch+json`. Null clears an optional field or a single entry of
         *     `metadata`. An empty object changes nothing.
         *
         *     Send the last `ETag` that you received in `If-Match` to avoid overwriting the changes of others: if the parent
         *     program has changed in the meantime, the response is 412. Without `If-Match`, the update is made regardless.
         *
         *     An ID that belongs to another organization gets the same 404 as an ID that does not exist.
         */
        patch: operations["updateParentProgram"];
        trace?: never;
    };
    "/api/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the feed
         * @description Returns a page of the events of your organization, the oldest first. Every change of a parent program is an event, by
         *     any client or operator. An update that changes nothing is not an event.
         *
         *     Follow the feed: send the `next_cursor` of each page as `cursor`, until `has_more` is false. Store the cursor of the
         *     last page, and send it again later, as often as you like, to get what has happened since. No event ever appears
         *     before a cursor that you have received, so you miss none, and you get each one once. With `has_more`, a page also
         *     has a `Link` header with the URL of the next page.
         *
         *     Events are kept for 30 days, unless your server is configured otherwise. A `cursor` or a `since` after which an event
         *     is missing gets a 422 that names it: read all parent programs again, and then the feed from that time on.
         *
         *     Send the last `ETag` of the same URL in `If-None-Match` to get 304 if nothing has changed.
         */
        get: operations["listEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/events/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an event
         * @description Returns one event of your organization. An ID that belongs to another organization, or to an event that is no longer
         *     kept, gets the same 404 as an ID that does not exist.
         *
         *     Send its last `ETag` in `If-None-Match` to get 304. An event never changes.
         */
        get: operations["getEvent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the current key
         * @description Returns the API key that was sent with the request: its name, permissions, expiry, organization and integration, but never its secret. Every accepted key can call this operation, whatever its permissions, so it is a good first call.
         */
        get: operations["getKey"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    "parent_program.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A parent program was created
         * @description Sent after a parent program was created, by any client or operator, to the endpoints that have chosen
         *     `parent_program.created`.
         */
        post: operations["onParentProgramCreated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "parent_program.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A parent program was updated
         * @description Sent after a parent program was updated, by any client or operator, to the endpoints that have chosen
         *     `parent_program.updated`. An update that changes nothing is not an event.
         */
        post: operations["onParentProgramUpdated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "parent_program.deleted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A parent program was deleted
         * @description Sent after a parent program was deleted, by any client or operator, to the endpoints that have chosen
         *     `parent_program.deleted`.
         */
        post: operations["onParentProgramDeleted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "webhook.test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * An endpoint is tried
         * @description Sent when someone clicks **Send a test event** on the page of an endpoint in the dashboard. Verify it like any other
         *     event, and do nothing else with it.
         */
        post: operations["onWebhookTest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        /**
         * @description Your own data, as up to 50 entries. The key of an entry has 1 to 40 characters, and its value is a string of up to 500 characters. Charter stores the entries but does not use them. It returns them in the order of the lengths of their keys, in bytes of UTF-8, and keys of equal length in the order of their bytes.
         * @example {
         *       "colour": "green",
         *       "region": "nordic"
         *     }
         */
        Metadata: {
            [key: string]: string;
        };
        /** @description A parent program of your organization. */
        ParentProgram: {
            /**
             * Format: uuid
             * @description The ID, a version 7 UUID. Charter generates it, and it never changes.
             * @example 019c2291-34b8-752e-bca9-6513269e0d37
             */
            id: string;
            /**
             * @description The name. It does not have to be unique.
             * @example Nordic Scholars Exchange
             */
            name: string;
            /**
             * @description A longer text. Null if there is none.
             * @example One semester at a partner university in Denmark, Finland, Norway or Sweden.
             */
            description: string | null;
            /**
             * @description Your own ID for the parent program, unique in your organization. Null if there is none.
             * @example sis-20417
             */
            external_id: string | null;
            metadata: components["schemas"]["Metadata"];
            /**
             * Format: date-time
             * @description When the parent program was created, in UTC.
             * @example 2026-02-03T08:14:27.512Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When the parent program was last changed, in UTC. Until the first change, it equals `created_at`.
             * @example 2026-03-19T09:02:51.340Z
             */
            updated_at: string;
        };
        /** @description The size of the page, and the cursor of the next one. */
        Page: {
            /**
             * Format: int32
             * @description The maximum number of items on a page.
             * @example 25
             */
            limit: number;
            /**
             * @description Send this value as `cursor` to get the next page. Null on the last page.
             * @example 9zM8mWKL90nNjKwMGsOAC1AZxM7jNfemqDF9I_EosvMwAC7YtHQMsY
             */
            next_cursor: string | null;
        };
        /** @description A page of parent programs. */
        ParentProgramPage: {
            /** @description The parent programs on this page, in the order of `sort`. Empty if there are none. */
            data: components["schemas"]["ParentProgram"][];
            page: components["schemas"]["Page"];
        };
        /** @description The request cannot be read. */
        BadRequestException: {
            /**
             * @description What is wrong and what to do about it. The message is for people. Do not parse it.
             * @example The query contains percent-encoding that is not valid UTF-8: %ff
             */
            message: string;
        };
        /** @description The API key is missing or not accepted. */
        AuthenticationException: {
            /**
             * @description What is wrong and what to do about it. The message is for people. Do not parse it.
             * @example Send an API key in the Authorization header: Bearer <API_KEY>.
             */
            message: string;
        };
        /** @description The API key is valid, but it is not allowed to perform this operation, or not from your address. */
        AuthorizationException: {
            /**
             * @description What is wrong and what to do about it. The message is for people. Do not parse it.
             * @example The organization Aurora Education Group is suspended. Contact support.
             */
            message: string;
        };
        /** @description The path does not support this method. */
        MethodNotAllowedException: {
            /**
             * @description What is wrong and what to do about it. The message is for people. Do not parse it.
             * @example PUT is not allowed. Allowed methods: GET, HEAD, POST.
             */
            message: string;
        };
        /** @description The `Accept` header excludes the only media type that is available. */
        NotAcceptableException: {
            /**
             * @description What is wrong and what to do about it. The message is for people. Do not parse it.
             * @example The response is application/json, which the Accept header excludes. Send Accept: application/json, or no Accept header.
             */
            message: string;
        };
        /** @description The request did not arrive in time. It was not carried out. */
        RequestTimeoutException: {
            /**
             * @description What is wrong and what to do about it. The message is for people. Do not parse it.
             * @example The request did not arrive within 30 seconds.
             */
            message: string;
        };
        /** @description The URL is too long. */
        UriTooLongException: {
            /**
             * @description What is wrong and what to do about it. The message is for people. Do not parse it.
             * @example The URL is longer than 8192 bytes (8 KiB). Shorten it.
             */
            message: string;
        };
        /**
         * @description The messages for each field. A field is the name of a body field (`name`), an entry of an object after a dot (`metadata.colour`), `body` for the body as a whole, or the name of a path, query or header parameter (`id`, `limit`, `Idempotency-Key`, `If-Match`).
         * @example {
         *       "limit": [
         *         "must be an integer from 1 to 100."
         *       ]
         *     }
         */
        FieldErrors: {
            [key: string]: string[];
        };
        /** @description A parameter, a header or the body is not valid. */
        ValidationException: {
            /**
             * @description What is wrong and what to do about it. The message is for people. Do not parse it.
             * @example limit must be an integer from 1 to 100.
             */
            message: string;
            errors: components["schemas"]["FieldErrors"];
        };
        /** @description More requests were sent than the rate limit allows. */
        TooManyRequestsException: {
            /**
             * @description What is wrong and what to do about it. The message is for people. Do not parse it.
             * @example This API key can send 500 requests per second. Wait for the number of seconds in Retry-After, then send fewer.
             */
            message: string;
        };
        /** @description Something went wrong on our side. */
        ServerException: {
            /**
             * @description What is wrong and what to do about it. The message is for people. Do not parse it.
             * @example Something went wrong on our side. Try again. If it happens again, contact support and quote the X-Request-Id.
             */
            message: string;
        };
        /** @description The request uses a part of HTTP that Charter does not support. It was not carried out. */
        NotImplementedException: {
            /**
             * @description What is wrong and what to do about it. The message is for people. Do not parse it.
             * @example The transfer coding is not supported. Use only "chunked", or none.
             */
            message: string;
        };
        /** @description The service is temporarily unavailable. */
        ServiceUnavailableException: {
            /**
             * @description What is wrong and what to do about it. The message is for people. Do not parse it.
             * @example The service is temporarily unavailable. Try again in a few seconds.
             */
            message: string;
        };
        /** @description A parent program to create. Only `name` is required. */
        ParentProgramCreate: {
            /**
             * @description The name. It does not have to be unique.
             * @example Nordic Scholars Exchange
             */
            name: string;
            /**
             * @description A longer text. Omit it, or send null, if there is none.
             * @example One semester at a partner university in Denmark, Finland, Norway or Sweden.
             */
            description?: string | null;
            /**
             * @description Your own ID for the parent program, unique in your organization. Omit it, or send null, if there is none.
             * @example sis-20417
             */
            external_id?: string | null;
            metadata?: components["schemas"]["Metadata"];
        };
        /** @description The request conflicts with stored data. */
        ConflictException: {
            /**
             * @description What is wrong and what to do about it. The message is for people. Do not parse it.
             * @example The parent program 019c2291-34b8-752e-bca9-6513269e0d37 in your organization already has the external_id "sis-20417". Use a different external_id, or update that parent program.
             */
            message: string;
            /** @description Only in the response to an atomic batch: the messages for each change that was refused, such as `changes.3` for the fourth. */
            errors?: components["schemas"]["FieldErrors"];
        };
        /** @description The body is too large. */
        PayloadTooLargeException: {
            /**
             * @description What is wrong and what to do about it. The message is for people. Do not parse it.
             * @example The body is larger than 102400 bytes (100 KiB). Send a smaller body.
             */
            message: string;
        };
        /** @description The body is not in a supported format. */
        UnsupportedMediaTypeException: {
            /**
             * @description What is wrong and what to do about it. The message is for people. Do not parse it.
             * @example The body must be JSON in UTF-8. Send Content-Type: application/json.
             */
            message: string;
        };
        /** @description Creates a parent program, as `createParentProgram` does. */
        ParentProgramCreateChange: {
            /**
             * @description Create. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            action: "create";
            body: components["schemas"]["ParentProgramCreate"];
        };
        /** @description The content of a parent program. Only `name` is required. */
        ParentProgramUpsert: {
            /**
             * @description The name. It does not have to be unique.
             * @example Nordic Scholars Exchange
             */
            name: string;
            /**
             * @description A longer text. Omit it, or send null, if there is none.
             * @example One semester at a partner university in Denmark, Finland, Norway or Sweden.
             */
            description?: string | null;
            metadata?: components["schemas"]["Metadata"];
        };
        /** @description Creates or replaces a parent program by `external_id`, as `upsertParentProgram` does. */
        ParentProgramUpsertChange: {
            /**
             * @description Create or replace. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            action: "upsert";
            /**
             * @description Your own ID of the parent program.
             * @example sis-20417
             */
            external_id: string;
            /**
             * @description The header `If-Match` of the request.
             * @example "5PCSWvuqX5dplNHdfbjbVq"
             */
            if_match?: string;
            /**
             * @description The header `If-None-Match` of the request.
             * @example *
             */
            if_none_match?: string;
            body: components["schemas"]["ParentProgramUpsert"];
        };
        /** @description The changes to a parent program, as a JSON merge patch (RFC 7396). Omitted fields keep their values, and null clears a field. An empty object changes nothing. */
        ParentProgramUpdate: {
            /**
             * @description The new name. It cannot be cleared.
             * @example Nordic Scholars Exchange
             */
            name?: string;
            /**
             * @description The new text. Null clears it.
             * @example One semester at a partner university in Denmark, Finland, Norway or Sweden.
             */
            description?: string | null;
            /**
             * @description Your own ID for the parent program, unique in your organization. Null clears it.
             * @example sis-20417
             */
            external_id?: string | null;
            /**
             * @description The entries to change. A string sets an entry, null removes it, and omitted entries keep their values. Null instead of the object removes all entries. At most 50 entries may remain after the update.
             * @example {
             *       "colour": "amber",
             *       "region": null
             *     }
             */
            metadata?: {
                [key: string]: string | null;
            } | null;
        };
        /** @description Updates a parent program with a merge patch, as `updateParentProgram` does. */
        ParentProgramUpdateChange: {
            /**
             * @description Update. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            action: "update";
            /**
             * Format: uuid
             * @description The ID of the parent program to update.
             * @example 019c2291-34b8-752e-bca9-6513269e0d37
             */
            id: string;
            /**
             * @description The header `If-Match` of the request.
             * @example "5PCSWvuqX5dplNHdfbjbVq"
             */
            if_match?: string;
            body: components["schemas"]["ParentProgramUpdate"];
        };
        /** @description Deletes a parent program by its `id`, as `deleteParentProgram` does, or by its `external_id`, as `deleteParentProgramByExternalId` does. Send one of the two. */
        ParentProgramDeleteChange: {
            /**
             * @description Delete. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            action: "delete";
            /**
             * Format: uuid
             * @description The ID of the parent program to delete.
             * @example 019c2291-34b8-752e-bca9-6513269e0d37
             */
            id?: string;
            /**
             * @description Your own ID of the parent program to delete.
             * @example sis-20417
             */
            external_id?: string;
            /**
             * @description The header `If-Match` of the request.
             * @example "5PCSWvuqX5dplNHdfbjbVq"
             */
            if_match?: string;
        };
        /** @description One change. Its `action` determines its other members: the parameters and the body of the request that makes only this change. They are validated like these, each change by itself, so an invalid change does not keep the others from being made unless the batch is atomic. */
        ParentProgramChange: components["schemas"]["ParentProgramCreateChange"] | components["schemas"]["ParentProgramUpsertChange"] | components["schemas"]["ParentProgramUpdateChange"] | components["schemas"]["ParentProgramDeleteChange"];
        /** @description Changes to parent programs. */
        ParentProgramBatch: {
            /**
             * @description Make all changes or none. Otherwise, each change is made or refused by itself.
             * @default false
             * @example true
             */
            atomic?: boolean;
            /** @description The changes, which are made in this order. Each one counts as a request to the rate limits. */
            changes: components["schemas"]["ParentProgramChange"][];
        };
        /** @description The exception of a change that was refused. With the status 422, it has `errors`. */
        ChangeRefusal: {
            /**
             * @description What is wrong and what to do about it. The message is for people. Do not parse it.
             * @example There is no parent program with this id.
             */
            message: string;
            errors?: components["schemas"]["FieldErrors"];
        };
        /** @description The outcome of a change, as the request that makes only this change has it. */
        ParentProgramChangeResult: {
            /**
             * Format: int32
             * @description The status. 200, 201 or 204: the change was made. 404, 409, 412 or 422: it was refused.
             * @example 201
             * @enum {integer}
             */
            status: 200 | 201 | 204 | 404 | 409 | 412 | 422;
            /**
             * @description The entity tag of the parent program after the change. Null if it was deleted or the change was refused.
             * @example "5PCSWvuqX5dplNHdfbjbVq"
             */
            etag: string | null;
            /** @description The parent program after the change. Null if it was deleted or the change was refused. */
            body: components["schemas"]["ParentProgram"] | null;
            /** @description Why the change was refused. Null if it was made. */
            exception: components["schemas"]["ChangeRefusal"] | null;
        };
        /** @description The outcomes of a batch. */
        ParentProgramBatchResult: {
            /** @description The outcome of each change, in the order of the changes. */
            results: components["schemas"]["ParentProgramChangeResult"][];
        };
        /** @description The entity tag in If-Match is not the current one, or is weak. */
        PreconditionFailedException: {
            /**
             * @description What is wrong and what to do about it. The message is for people. Do not parse it.
             * @example The parent program has changed since you read it. Read it again, then retry with its new ETag in If-Match.
             */
            message: string;
            /** @description Only in the response to an atomic batch: the messages for each change that was refused, such as `changes.3` for the fourth. */
            errors?: components["schemas"]["FieldErrors"];
        };
        /** @description The path does not exist, or your organization has nothing with this `id`. */
        NotFoundException: {
            /**
             * @description What is wrong and what to do about it. The message is for people. Do not parse it.
             * @example There is no parent program with this id.
             */
            message: string;
        };
        /** @description A change of a parent program of your organization. */
        Event: {
            /**
             * Format: uuid
             * @description The ID, a version 7 UUID. Every event has its own, so use it to recognize an event that you have handled before.
             * @example 019d0555-53cc-7369-8000-000149774825
             */
            id: string;
            /**
             * @description What happened to the parent program. Later versions of this document can add types: ignore an event whose type you do not know.
             * @example parent_program.updated
             * @enum {string}
             */
            type: "parent_program.created" | "parent_program.updated" | "parent_program.deleted";
            /**
             * Format: date-time
             * @description When it happened, in UTC. The events of the feed are in this order.
             * @example 2026-03-19T09:02:51.341Z
             */
            timestamp: string;
            data: components["schemas"]["ParentProgram"];
        };
        /** @description The size of the page, and the cursor of the events after it. */
        FeedPage: {
            /**
             * Format: int32
             * @description The maximum number of items on a page.
             * @example 25
             */
            limit: number;
            /**
             * @description Send this value as `cursor` to get the events after this page. The last page has one, too: store it, and send it later to get what has happened since.
             * @example 6GQD10k5-Mrq12OW-f5KV5AZ1msCPmcF-__________w
             */
            next_cursor: string;
            /**
             * @description Whether there are more events now. False on the last page.
             * @example false
             */
            has_more: boolean;
        };
        /** @description A page of events. */
        EventPage: {
            /** @description The events on this page, the oldest first. Empty if there are none. */
            data: components["schemas"]["Event"][];
            page: components["schemas"]["FeedPage"];
        };
        /**
         * @description A permission of a key. `parent_programs:read` allows you to list and get parent programs and their events, and `parent_programs:write` to create, update and delete them. Later versions of this document can add permissions.
         * @example parent_programs:read
         * @enum {string}
         */
        Permission: "parent_programs:read" | "parent_programs:write";
        /** @description The organization that the key belongs to. The key cannot access any other organization. */
        KeyOrganization: {
            /**
             * Format: uuid
             * @description The ID of the organization.
             * @example 019b9c83-28c0-711e-8f67-8d111738f7d9
             */
            id: string;
            /**
             * @description The name of the organization.
             * @example Aurora Education Group
             */
            name: string;
        };
        /** @description The integration (service account) that the key belongs to. Null if the key belongs to a user. */
        KeyIntegration: {
            /**
             * Format: uuid
             * @description The ID of the integration.
             * @example 019c5d11-90a4-7c55-8e02-4b7f3a1d6e20
             */
            id: string;
            /**
             * @description The name of the integration, as shown in the dashboard.
             * @example Reporting warehouse
             */
            name: string;
        } | null;
        /** @description The API key that was sent with the request, without its secret. */
        Key: {
            /**
             * Format: uuid
             * @description The ID of the key. It is not secret.
             * @example 019de2fb-197b-76ca-83c8-90c1d3ac94af
             */
            id: string;
            /**
             * @description The name of the key, as shown in the dashboard.
             * @example Nightly sync
             */
            name: string;
            /**
             * @description The current permissions of the key: those that it was given and that the role of its user or integration still allows.
             * @example [
             *       "parent_programs:read",
             *       "parent_programs:write"
             *     ]
             */
            permissions: components["schemas"]["Permission"][];
            /**
             * Format: date-time
             * @description When the key expires, in UTC. Null if it does not expire.
             * @example 2027-05-01T10:00:00.123Z
             */
            expires_at: string | null;
            organization: components["schemas"]["KeyOrganization"];
            integration: components["schemas"]["KeyIntegration"];
        };
        /** @description A parent program was created. `data` is the parent program. */
        ParentProgramCreatedEvent: {
            /**
             * Format: uuid
             * @description The ID of the event, a version 7 UUID. It is the same as in the feed.
             * @example 019c2291-34b8-719c-8000-00015fededdd
             */
            id: string;
            /**
             * @description What happened.
             * @example parent_program.created
             * @constant
             */
            type: "parent_program.created";
            /**
             * Format: date-time
             * @description When it happened, in UTC.
             * @example 2026-02-03T08:14:27.513Z
             */
            timestamp: string;
            data: components["schemas"]["ParentProgram"];
        };
        /** @description A parent program was updated. `data` is the parent program after the update. */
        ParentProgramUpdatedEvent: {
            /**
             * Format: uuid
             * @description The ID of the event, a version 7 UUID. It is the same as in the feed.
             * @example 019d0555-53cc-7369-8000-000149774825
             */
            id: string;
            /**
             * @description What happened.
             * @example parent_program.updated
             * @constant
             */
            type: "parent_program.updated";
            /**
             * Format: date-time
             * @description When it happened, in UTC.
             * @example 2026-03-19T09:02:51.341Z
             */
            timestamp: string;
            data: components["schemas"]["ParentProgram"];
        };
        /** @description A parent program was deleted. `data` is the parent program as it was last. */
        ParentProgramDeletedEvent: {
            /**
             * Format: uuid
             * @description The ID of the event, a version 7 UUID. It is the same as in the feed.
             * @example 019d66b0-23e6-705f-8000-0001ffc9356b
             */
            id: string;
            /**
             * @description What happened.
             * @example parent_program.deleted
             * @constant
             */
            type: "parent_program.deleted";
            /**
             * Format: date-time
             * @description When it happened, in UTC.
             * @example 2026-04-07T06:45:12.807Z
             */
            timestamp: string;
            data: components["schemas"]["ParentProgram"];
        };
        /** @description Someone tries the endpoint. Nothing has happened. */
        WebhookTestEvent: {
            /**
             * Format: uuid
             * @description The ID of the event, a version 7 UUID. A test event is not in the feed.
             * @example 019d0a1c-6b1f-7c3e-9d52-7f4e8a90b3c1
             */
            id: string;
            /**
             * @description What happened.
             * @example webhook.test
             * @constant
             */
            type: "webhook.test";
            /**
             * Format: date-time
             * @description When it happened, in UTC.
             * @example 2026-03-20T07:20:00.159Z
             */
            timestamp: string;
            /** @description Empty, because nothing has happened. */
            data: Record<string, never>;
        };
    };
    responses: {
        /** @description The content has not changed: its entity tag is one of those in `If-None-Match`. The response has no body. Continue to use your copy. */
        NotModified: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                "Cache-Control": components["headers"]["CacheControlRevalidate"];
                /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                "RateLimit-Policy"?: string;
                /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                RateLimit?: string;
                ETag: components["headers"]["ETag"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description The request cannot be read: its body is incomplete or is not JSON in UTF-8, or its URL contains percent-encoding that is not UTF-8. */
        BadRequestException: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                "Cache-Control": components["headers"]["CacheControlNoStore"];
                /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                "RateLimit-Policy"?: string;
                /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                RateLimit?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["BadRequestException"];
            };
        };
        /** @description The API key is missing or not accepted. Up to this point, the server has checked only the URL and the method. */
        AuthenticationException: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                "Cache-Control": components["headers"]["CacheControlNoStore"];
                "WWW-Authenticate": components["headers"]["WwwAuthenticateCredentials"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AuthenticationException"];
            };
        };
        /** @description The API key is valid, but it may not be used from your address, or the key, its user or its organization is not allowed to perform this operation. */
        AuthorizationException: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                "Cache-Control": components["headers"]["CacheControlNoStore"];
                /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                "RateLimit-Policy"?: string;
                /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                RateLimit?: string;
                "WWW-Authenticate": components["headers"]["WwwAuthenticatePermission"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AuthorizationException"];
            };
        };
        /** @description The path does not support this method. The `Allow` header lists the methods that it supports. */
        MethodNotAllowedException: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                "Cache-Control": components["headers"]["CacheControlNoStore"];
                Allow: components["headers"]["Allow"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["MethodNotAllowedException"];
            };
        };
        /** @description The `Accept` header excludes `application/json`, the only media type of the responses. */
        NotAcceptableException: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                "Cache-Control": components["headers"]["CacheControlNoStore"];
                /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                "RateLimit-Policy"?: string;
                /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                RateLimit?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["NotAcceptableException"];
            };
        };
        /** @description The request did not arrive in time: its headers within 10 seconds, or the whole request within 30 seconds. It was not carried out, so you can repeat it. Charter closes the connection. */
        RequestTimeoutException: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                "Cache-Control": components["headers"]["CacheControlNoStore"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["RequestTimeoutException"];
            };
        };
        /** @description The URL, from the path to the end of the query, is longer than 8,192 bytes (8 KiB). */
        UriTooLongException: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                "Cache-Control": components["headers"]["CacheControlNoStore"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["UriTooLongException"];
            };
        };
        /** @description The API key or its organization has reached its rate limit, or your address sends too many requests without a valid key or with a key that may not be used from it. The request was not executed. Retry it after the number of seconds in `Retry-After`. */
        TooManyRequestsException: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                "Cache-Control": components["headers"]["CacheControlNoStore"];
                /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                "RateLimit-Policy"?: string;
                /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                RateLimit?: string;
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["TooManyRequestsException"];
            };
        };
        /** @description Something went wrong on our side. The response does not reveal the cause. Our logs contain it under the `X-Request-Id`. */
        ServerException: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                "Cache-Control": components["headers"]["CacheControlNoStore"];
                /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                "RateLimit-Policy"?: string;
                /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                RateLimit?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ServerException"];
            };
        };
        /** @description The `Transfer-Encoding` header names another coding than `chunked`. The request was not carried out. Charter closes the connection. */
        NotImplementedException: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                "Cache-Control": components["headers"]["CacheControlNoStore"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["NotImplementedException"];
            };
        };
        /** @description The service is temporarily unavailable. Retry the request after the number of seconds in `Retry-After`: a creation with its `Idempotency-Key`, and an update with `If-Match`, because the request may have been executed. */
        ServiceUnavailableException: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                "Cache-Control": components["headers"]["CacheControlNoStore"];
                /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                "RateLimit-Policy"?: string;
                /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                RateLimit?: string;
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ServiceUnavailableException"];
            };
        };
        /** @description Another parent program in your organization already has this `external_id`. Nothing was changed. */
        ConflictException: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                "Cache-Control": components["headers"]["CacheControlNoStore"];
                /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                "RateLimit-Policy"?: string;
                /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                RateLimit?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ConflictException"];
            };
        };
        /** @description The body is larger than 102,400 bytes (100 KiB). */
        PayloadTooLargeException: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                "Cache-Control": components["headers"]["CacheControlNoStore"];
                /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                "RateLimit-Policy"?: string;
                /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                RateLimit?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["PayloadTooLargeException"];
            };
        };
        /** @description The `Content-Type` header is missing or is not JSON in UTF-8, or the body is compressed. */
        UnsupportedMediaTypeException: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                "Cache-Control": components["headers"]["CacheControlNoStore"];
                /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                "RateLimit-Policy"?: string;
                /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                RateLimit?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["UnsupportedMediaTypeException"];
            };
        };
        /** @description What you want to change or delete has changed since you read it: its entity tag is not one of those in `If-Match`. Or the tag in `If-Match` is weak (`W/`). Nothing was changed. */
        PreconditionFailedException: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                "Cache-Control": components["headers"]["CacheControlNoStore"];
                /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                "RateLimit-Policy"?: string;
                /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                RateLimit?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["PreconditionFailedException"];
            };
        };
        /** @description Your organization has nothing with this `id`. The response is the same for an ID that does not exist and for an ID that belongs to another organization. */
        NotFoundException: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                "Cache-Control": components["headers"]["CacheControlNoStore"];
                /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                "RateLimit-Policy"?: string;
                /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                RateLimit?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["NotFoundException"];
            };
        };
        /** @description A query parameter is unknown. `errors` contains each one and explains what to change. */
        ValidationException: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                "Cache-Control": components["headers"]["CacheControlNoStore"];
                /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                "RateLimit-Policy"?: string;
                /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                RateLimit?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ValidationException"];
            };
        };
        /** @description The endpoint is no longer used. Charter disables it and sends nothing more to it. */
        EndpointGone: {
            headers: {
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description You have received the event. Charter ignores the body. After any other status, or if you do not respond within 15 seconds, Charter sends the event again later. It does not follow redirects. */
        EventReceived: {
            headers: {
                [name: string]: unknown;
            };
            content?: never;
        };
    };
    parameters: {
        /** @description The maximum number of items on a page. It may differ from page to page. */
        Limit: number;
        /** @description The `next_cursor` of the previous page. Send it with the same `sort` and the same filters as that page; `limit` may differ. A cursor is opaque: do not create or modify one. */
        Cursor: string;
        /** @description The sort order of the list. A leading minus sign reverses it. `name` sorts by Unicode code point, so `Z` comes before `a`. Items with equal values are sorted by `id` in the same direction. */
        Sort: "created_at" | "-created_at" | "updated_at" | "-updated_at" | "name" | "-name";
        /** @description Return only parent programs whose name contains this text. Letter case (the full default case folding of Unicode) and the Unicode normal form make no difference: `STRASSE` finds `Straße`. Accents do: `cafe` does not find `Café`. There are no wildcards. The length of the text is that of its normal form C. */
        Search: string;
        /** @description Return only the parent program with exactly this `external_id`. */
        ExternalId: string;
        /**
         * @description Return only parent programs that were created or changed at or after this time. Use an RFC 3339 date and time with
         *     an offset, and encode `+` as `%2B`.
         *
         *     To keep a copy in sync, start each run one minute before the latest `updated_at` that you have seen: a change that
         *     was in progress while you read a page can appear a moment later. Deleted parent programs are not listed.
         */
        UpdatedSince: string;
        /** @description Return the content only if its entity tag is not one of these. Otherwise, the response is 304 without a body. Send the last `ETag` that you received from the same URL. */
        IfNoneMatch: string;
        /**
         * @description A unique value that you generate for this creation, such as a random UUID. It makes the request safe to retry: for
         *     24 hours, a request with the same idempotency key and the same body creates nothing and returns the first response
         *     again. A request with the same idempotency key and a different body returns 422, and so does a value that contains an
         *     API key.
         *
         *     Idempotency keys belong to your organization: it does not matter which API key sends them. Charter remembers only
         *     successful creations.
         */
        IdempotencyKey: string;
        /**
         * @description A unique value that you generate for this batch, such as a random UUID. It makes the request safe to retry: for
         *     24 hours, a request with the same idempotency key and the same body changes nothing and returns the first response
         *     again. A request with the same idempotency key and a different body returns 422, and so does a value that contains an
         *     API key.
         *
         *     Idempotency keys belong to your organization: it does not matter which API key sends them. Charter remembers only
         *     responses with the status 200.
         */
        IdempotencyKeyOfBatch: string;
        /** @description Your own ID of the parent program, percent-encoded. */
        ExternalIdInPath: string;
        /** @description Apply the request only if the present entity tag is one of these. Otherwise, the response is 412 and nothing is changed. Send the last `ETag` that you received, so that no one's change is lost. `*` matches if what you change or delete exists. A weak tag (`W/`) never matches. */
        IfMatch: string;
        /** @description Apply the request only if the present entity tag is none of these. Otherwise, the response is 412 and nothing is changed. `*` applies it only if there is no such parent program yet, so that nothing is replaced. */
        IfNoneMatchOfWrite: string;
        /** @description The ID of a parent program. */
        ParentProgramId: string;
        /** @description The `next_cursor` of an earlier page. Send it with the same `type` as that page; `limit` may differ. It needs no `since`. A cursor is opaque: do not create or modify one. */
        FeedCursor: string;
        /** @description Return only events of this type. */
        EventType: "parent_program.created" | "parent_program.updated" | "parent_program.deleted";
        /**
         * @description Begin with the events that happened at or after this time. Use an RFC 3339 date and time with an offset, and encode
         *     `+` as `%2B`. Without it, the feed begins with the oldest event that is kept.
         *
         *     It determines where the first page begins. To read on, use `cursor`, with which each event comes once. With a
         *     `cursor`, it has no effect.
         */
        Since: string;
        /** @description The ID of an event. */
        EventId: string;
        /** @description The ID of the event. It is the same each time that the event is sent, so use it to recognize an event that you have handled before. */
        WebhookId: string;
        /** @description When the message was sent, in seconds since 1970-01-01T00:00:00Z. Refuse a message that differs from your clock by more than five minutes: someone may have recorded it and sent it again. */
        WebhookTimestamp: number;
        /** @description One or more signatures, separated by spaces. Each is `v1,` and the HMAC-SHA256 of `webhook-id`, `webhook-timestamp` and the body, joined with full stops, in base64. Its key is the base64 text after `whsec_` in the secret of the endpoint, decoded. For 24 hours after a rotation, both secrets sign. Ignore a signature that does not begin with `v1,`, and refuse a message if none is right. */
        WebhookSignature: string;
    };
    requestBodies: never;
    headers: {
        /** @description Identifies the request in our logs. Quote it when you contact support. */
        XRequestId: string;
        /** @description Private caches may store the response, but must revalidate it with `If-None-Match` before each use. */
        CacheControlRevalidate: "private, no-cache";
        /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
        RateLimitPolicy: string;
        /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
        RateLimit: string;
        /** @description A strong entity tag, which identifies exactly this content (RFC 9110 section 8.8.3). Send it in `If-None-Match` or, where an operation has that parameter, in `If-Match`. Do not parse it. */
        ETag: string;
        /** @description Caches must not store the response. */
        CacheControlNoStore: "no-store";
        /** @description How to authenticate (RFC 6750 section 3). It contains `error="invalid_token"` if a key was sent but not accepted. */
        WwwAuthenticateCredentials: "Bearer realm=\"charter\"" | "Bearer realm=\"charter\", error=\"invalid_token\"";
        /** @description Why the request is not allowed (RFC 6750 section 3). `scope` names the permission that the key lacks. It is absent if no permission would help, as for a key that may not be used from your address. Later versions of this document can add permissions. */
        WwwAuthenticatePermission: "Bearer realm=\"charter\", error=\"insufficient_scope\"" | "Bearer realm=\"charter\", error=\"insufficient_scope\", scope=\"parent_programs:read\"" | "Bearer realm=\"charter\", error=\"insufficient_scope\", scope=\"parent_programs:write\"";
        /** @description The methods that the path supports. */
        Allow: string;
        /** @description The number of seconds to wait before you retry. */
        RetryAfter: number;
        /** @description The URL of the new parent program, as a relative reference. */
        Location: string;
        /** @description The media types that `PATCH` accepts (RFC 5789). */
        AcceptPatch: "application/json, application/merge-patch+json";
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listParentPrograms: {
        parameters: {
            query?: {
                /** @description The maximum number of items on a page. It may differ from page to page. */
                limit?: components["parameters"]["Limit"];
                /** @description The `next_cursor` of the previous page. Send it with the same `sort` and the same filters as that page; `limit` may differ. A cursor is opaque: do not create or modify one. */
                cursor?: components["parameters"]["Cursor"];
                /** @description The sort order of the list. A leading minus sign reverses it. `name` sorts by Unicode code point, so `Z` comes before `a`. Items with equal values are sorted by `id` in the same direction. */
                sort?: components["parameters"]["Sort"];
                /** @description Return only parent programs whose name contains this text. Letter case (the full default case folding of Unicode) and the Unicode normal form make no difference: `STRASSE` finds `Straße`. Accents do: `cafe` does not find `Café`. There are no wildcards. The length of the text is that of its normal form C. */
                search?: components["parameters"]["Search"];
                /** @description Return only the parent program with exactly this `external_id`. */
                external_id?: components["parameters"]["ExternalId"];
                /**
                 * @description Return only parent programs that were created or changed at or after this time. Use an RFC 3339 date and time with
                 *     an offset, and encode `+` as `%2B`.
                 *
                 *     To keep a copy in sync, start each run one minute before the latest `updated_at` that you have seen: a change that
                 *     was in progress while you read a page can appear a moment later. Deleted parent programs are not listed.
                 */
                updated_since?: components["parameters"]["UpdatedSince"];
            };
            header?: {
                /** @description Return the content only if its entity tag is not one of these. Otherwise, the response is 304 without a body. Send the last `ETag` that you received from the same URL. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of parent programs. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControlRevalidate"];
                    /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                    "RateLimit-Policy"?: string;
                    /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                    RateLimit?: string;
                    ETag: components["headers"]["ETag"];
                    /** @description The URL of the next page, as a relative reference (RFC 8288). It keeps the `limit`, the `sort` and the filters of this request. The last page has no such header. */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ParentProgramPage"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequestException"];
            401: components["responses"]["AuthenticationException"];
            403: components["responses"]["AuthorizationException"];
            405: components["responses"]["MethodNotAllowedException"];
            406: components["responses"]["NotAcceptableException"];
            408: components["responses"]["RequestTimeoutException"];
            414: components["responses"]["UriTooLongException"];
            /** @description A parameter is invalid or unknown. `errors` contains each one and explains what to change. */
            422: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControlNoStore"];
                    /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                    "RateLimit-Policy"?: string;
                    /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                    RateLimit?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationException"];
                };
            };
            429: components["responses"]["TooManyRequestsException"];
            500: components["responses"]["ServerException"];
            501: components["responses"]["NotImplementedException"];
            503: components["responses"]["ServiceUnavailableException"];
        };
    };
    createParentProgram: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A unique value that you generate for this creation, such as a random UUID. It makes the request safe to retry: for
                 *     24 hours, a request with the same idempotency key and the same body creates nothing and returns the first response
                 *     again. A request with the same idempotency key and a different body returns 422, and so does a value that contains an
                 *     API key.
                 *
                 *     Idempotency keys belong to your organization: it does not matter which API key sends them. Charter remembers only
                 *     successful creations.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description The parent program to create. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ParentProgramCreate"];
            };
        };
        responses: {
            /** @description The parent program was created. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControlNoStore"];
                    /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                    "RateLimit-Policy"?: string;
                    /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                    RateLimit?: string;
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ParentProgram"];
                };
            };
            400: components["responses"]["BadRequestException"];
            401: components["responses"]["AuthenticationException"];
            403: components["responses"]["AuthorizationException"];
            405: components["responses"]["MethodNotAllowedException"];
            406: components["responses"]["NotAcceptableException"];
            408: components["responses"]["RequestTimeoutException"];
            409: components["responses"]["ConflictException"];
            413: components["responses"]["PayloadTooLargeException"];
            414: components["responses"]["UriTooLongException"];
            415: components["responses"]["UnsupportedMediaTypeException"];
            /** @description A parameter or a field of the body is missing, invalid, unknown or repeated. `errors` contains each one and explains what to change. Nothing was changed. */
            422: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControlNoStore"];
                    /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                    "RateLimit-Policy"?: string;
                    /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                    RateLimit?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationException"];
                };
            };
            429: components["responses"]["TooManyRequestsException"];
            500: components["responses"]["ServerException"];
            501: components["responses"]["NotImplementedException"];
            503: components["responses"]["ServiceUnavailableException"];
        };
    };
    batchParentPrograms: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A unique value that you generate for this batch, such as a random UUID. It makes the request safe to retry: for
                 *     24 hours, a request with the same idempotency key and the same body changes nothing and returns the first response
                 *     again. A request with the same idempotency key and a different body returns 422, and so does a value that contains an
                 *     API key.
                 *
                 *     Idempotency keys belong to your organization: it does not matter which API key sends them. Charter remembers only
                 *     responses with the status 200.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKeyOfBatch"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description The changes to make. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ParentProgramBatch"];
            };
        };
        responses: {
            /** @description The changes were processed. `results` has the outcome of each one. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControlNoStore"];
                    /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                    "RateLimit-Policy"?: string;
                    /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                    RateLimit?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ParentProgramBatchResult"];
                };
            };
            400: components["responses"]["BadRequestException"];
            401: components["responses"]["AuthenticationException"];
            403: components["responses"]["AuthorizationException"];
            405: components["responses"]["MethodNotAllowedException"];
            406: components["responses"]["NotAcceptableException"];
            408: components["responses"]["RequestTimeoutException"];
            /** @description An atomic batch has a change whose `external_id` another parent program of your organization has, or another change of the batch creates. Nothing was changed. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControlNoStore"];
                    /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                    "RateLimit-Policy"?: string;
                    /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                    RateLimit?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConflictException"];
                };
            };
            /** @description An atomic batch has a change whose condition in `if_match` or `if_none_match` is not met. Nothing was changed. */
            412: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControlNoStore"];
                    /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                    "RateLimit-Policy"?: string;
                    /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                    RateLimit?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PreconditionFailedException"];
                };
            };
            /** @description The body is larger than 1,048,576 bytes (1 MiB). */
            413: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControlNoStore"];
                    /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                    "RateLimit-Policy"?: string;
                    /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                    RateLimit?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeException"];
                };
            };
            414: components["responses"]["UriTooLongException"];
            415: components["responses"]["UnsupportedMediaTypeException"];
            /** @description The batch is not valid: for example, it has more than 100 changes, or an unknown action. Or an atomic batch has a change that is invalid, or whose parent program does not exist. `errors` contains each one and explains what to change. Nothing was changed. */
            422: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControlNoStore"];
                    /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                    "RateLimit-Policy"?: string;
                    /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                    RateLimit?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationException"];
                };
            };
            429: components["responses"]["TooManyRequestsException"];
            500: components["responses"]["ServerException"];
            501: components["responses"]["NotImplementedException"];
            503: components["responses"]["ServiceUnavailableException"];
        };
    };
    getParentProgramByExternalId: {
        parameters: {
            query?: never;
            header?: {
                /** @description Return the content only if its entity tag is not one of these. Otherwise, the response is 304 without a body. Send the last `ETag` that you received from the same URL. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description Your own ID of the parent program, percent-encoded. */
                external_id: components["parameters"]["ExternalIdInPath"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The parent program. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControlRevalidate"];
                    /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                    "RateLimit-Policy"?: string;
                    /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                    RateLimit?: string;
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ParentProgram"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequestException"];
            401: components["responses"]["AuthenticationException"];
            403: components["responses"]["AuthorizationException"];
            /** @description Your organization has no parent program with this `external_id`. The response is the same for an `external_id` that does not exist and for one that only another organization has. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControlNoStore"];
                    /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                    "RateLimit-Policy"?: string;
                    /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                    RateLimit?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NotFoundException"];
                };
            };
            405: components["responses"]["MethodNotAllowedException"];
            406: components["responses"]["NotAcceptableException"];
            408: components["responses"]["RequestTimeoutException"];
            414: components["responses"]["UriTooLongException"];
            /** @description A parameter is invalid or unknown. `errors` contains each one and explains what to change. */
            422: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControlNoStore"];
                    /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                    "RateLimit-Policy"?: string;
                    /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                    RateLimit?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationException"];
                };
            };
            429: components["responses"]["TooManyRequestsException"];
            500: components["responses"]["ServerException"];
            501: components["responses"]["NotImplementedException"];
            503: components["responses"]["ServiceUnavailableException"];
        };
    };
    upsertParentProgram: {
        parameters: {
            query?: never;
            header?: {
                /** @description Apply the request only if the present entity tag is one of these. Otherwise, the response is 412 and nothing is changed. Send the last `ETag` that you received, so that no one's change is lost. `*` matches if what you change or delete exists. A weak tag (`W/`) never matches. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Apply the request only if the present entity tag is none of these. Otherwise, the response is 412 and nothing is changed. `*` applies it only if there is no such parent program yet, so that nothing is replaced. */
                "If-None-Match"?: components["parameters"]["IfNoneMatchOfWrite"];
            };
            path: {
                /** @description Your own ID of the parent program, percent-encoded. */
                external_id: components["parameters"]["ExternalIdInPath"];
            };
            cookie?: never;
        };
        /** @description The content of the parent program. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ParentProgramUpsert"];
            };
        };
        responses: {
            /** @description The parent program existed, and has this content now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControlNoStore"];
                    /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                    "RateLimit-Policy"?: string;
                    /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                    RateLimit?: string;
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ParentProgram"];
                };
            };
            /** @description The parent program was created. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControlNoStore"];
                    /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                    "RateLimit-Policy"?: string;
                    /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                    RateLimit?: string;
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ParentProgram"];
                };
            };
            400: components["responses"]["BadRequestException"];
            401: components["responses"]["AuthenticationException"];
            403: components["responses"]["AuthorizationException"];
            405: components["responses"]["MethodNotAllowedException"];
            406: components["responses"]["NotAcceptableException"];
            408: components["responses"]["RequestTimeoutException"];
            /** @description The condition in `If-None-Match` or `If-Match` is not met: the parent program exists already, has changed since you read it, or does not exist. Or the tag in `If-Match` is weak (`W/`). Nothing was changed. */
            412: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControlNoStore"];
                    /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                    "RateLimit-Policy"?: string;
                    /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                    RateLimit?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PreconditionFailedException"];
                };
            };
            413: components["responses"]["PayloadTooLargeException"];
            414: components["responses"]["UriTooLongException"];
            415: components["responses"]["UnsupportedMediaTypeException"];
            /** @description A parameter or a field of the body is missing, invalid, unknown or repeated. `errors` contains each one and explains what to change. Nothing was changed. */
            422: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControlNoStore"];
                    /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                    "RateLimit-Policy"?: string;
                    /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                    RateLimit?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationException"];
                };
            };
            429: components["responses"]["TooManyRequestsException"];
            500: components["responses"]["ServerException"];
            501: components["responses"]["NotImplementedException"];
            503: components["responses"]["ServiceUnavailableException"];
        };
    };
    deleteParentProgramByExternalId: {
        parameters: {
            query?: never;
            header?: {
                /** @description Apply the request only if the present entity tag is one of these. Otherwise, the response is 412 and nothing is changed. Send the last `ETag` that you received, so that no one's change is lost. `*` matches if what you change or delete exists. A weak tag (`W/`) never matches. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description Your own ID of the parent program, percent-encoded. */
                external_id: components["parameters"]["ExternalIdInPath"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The parent program was deleted. The response has no body. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControlNoStore"];
                    /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                    "RateLimit-Policy"?: string;
                    /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                    RateLimit?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequestException"];
            401: components["responses"]["AuthenticationException"];
            403: components["responses"]["AuthorizationException"];
            /** @description Your organization has no parent program with this `external_id`. The response is the same for an `external_id` that does not exist and for one that only another organization has. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControlNoStore"];
                    /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                    "RateLimit-Policy"?: string;
                    /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                    RateLimit?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NotFoundException"];
                };
            };
            405: components["responses"]["MethodNotAllowedException"];
            406: components["responses"]["NotAcceptableException"];
            408: components["responses"]["RequestTimeoutException"];
            412: components["responses"]["PreconditionFailedException"];
            414: components["responses"]["UriTooLongException"];
            /** @description A parameter is invalid or unknown. `errors` contains each one and explains what to change. */
            422: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControlNoStore"];
                    /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                    "RateLimit-Policy"?: string;
                    /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                    RateLimit?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationException"];
                };
            };
            429: components["responses"]["TooManyRequestsException"];
            500: components["responses"]["ServerException"];
            501: components["responses"]["NotImplementedException"];
            503: components["responses"]["ServiceUnavailableException"];
        };
    };
    getParentProgram: {
        parameters: {
            query?: never;
            header?: {
                /** @description Return the content only if its entity tag is not one of these. Otherwise, the response is 304 without a body. Send the last `ETag` that you received from the same URL. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description The ID of a parent program. */
                id: components["parameters"]["ParentProgramId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The parent program. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControlRevalidate"];
                    /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                    "RateLimit-Policy"?: string;
                    /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                    RateLimit?: string;
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ParentProgram"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequestException"];
            401: components["responses"]["AuthenticationException"];
            403: components["responses"]["AuthorizationException"];
            404: components["responses"]["NotFoundException"];
            405: components["responses"]["MethodNotAllowedException"];
            406: components["responses"]["NotAcceptableException"];
            408: components["responses"]["RequestTimeoutException"];
            414: components["responses"]["UriTooLongException"];
            /** @description A parameter is invalid or unknown. `errors` contains each one and explains what to change. */
            422: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControlNoStore"];
                    /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                    "RateLimit-Policy"?: string;
                    /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                    RateLimit?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationException"];
                };
            };
            429: components["responses"]["TooManyRequestsException"];
            500: components["responses"]["ServerException"];
            501: components["responses"]["NotImplementedException"];
            503: components["responses"]["ServiceUnavailableException"];
        };
    };
    deleteParentProgram: {
        parameters: {
            query?: never;
            header?: {
                /** @description Apply the request only if the present entity tag is one of these. Otherwise, the response is 412 and nothing is changed. Send the last `ETag` that you received, so that no one's change is lost. `*` matches if what you change or delete exists. A weak tag (`W/`) never matches. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The ID of a parent program. */
                id: components["parameters"]["ParentProgramId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The parent program was deleted. The response has no body. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControlNoStore"];
                    /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                    "RateLimit-Policy"?: string;
                    /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                    RateLimit?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequestException"];
            401: components["responses"]["AuthenticationException"];
            403: components["responses"]["AuthorizationException"];
            404: components["responses"]["NotFoundException"];
            405: components["responses"]["MethodNotAllowedException"];
            406: components["responses"]["NotAcceptableException"];
            408: components["responses"]["RequestTimeoutException"];
            412: components["responses"]["PreconditionFailedException"];
            414: components["responses"]["UriTooLongException"];
            /** @description A parameter is invalid or unknown. `errors` contains each one and explains what to change. */
            422: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControlNoStore"];
                    /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                    "RateLimit-Policy"?: string;
                    /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                    RateLimit?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationException"];
                };
            };
            429: components["responses"]["TooManyRequestsException"];
            500: components["responses"]["ServerException"];
            501: components["responses"]["NotImplementedException"];
            503: components["responses"]["ServiceUnavailableException"];
        };
    };
    updateParentProgram: {
        parameters: {
            query?: never;
            header?: {
                /** @description Apply the request only if the present entity tag is one of these. Otherwise, the response is 412 and nothing is changed. Send the last `ETag` that you received, so that no one's change is lost. `*` matches if what you change or delete exists. A weak tag (`W/`) never matches. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The ID of a parent program. */
                id: components["parameters"]["ParentProgramId"];
            };
            cookie?: never;
        };
        /** @description The fields to change. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ParentProgramUpdate"];
                "application/merge-patch+json": components["schemas"]["ParentProgramUpdate"];
            };
        };
        responses: {
            /** @description The parent program after the update. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControlNoStore"];
                    /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                    "RateLimit-Policy"?: string;
                    /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                    RateLimit?: string;
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ParentProgram"];
                };
            };
            400: components["responses"]["BadRequestException"];
            401: components["responses"]["AuthenticationException"];
            403: components["responses"]["AuthorizationException"];
            404: components["responses"]["NotFoundException"];
            405: components["responses"]["MethodNotAllowedException"];
            406: components["responses"]["NotAcceptableException"];
            408: components["responses"]["RequestTimeoutException"];
            409: components["responses"]["ConflictException"];
            412: components["responses"]["PreconditionFailedException"];
            413: components["responses"]["PayloadTooLargeException"];
            414: components["responses"]["UriTooLongException"];
            /** @description The `Content-Type` header is missing or is not JSON in UTF-8, or the body is compressed. The `Accept-Patch` header contains the media types that you can send. */
            415: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControlNoStore"];
                    /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                    "RateLimit-Policy"?: string;
                    /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                    RateLimit?: string;
                    "Accept-Patch": components["headers"]["AcceptPatch"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UnsupportedMediaTypeException"];
                };
            };
            /** @description A parameter or a field of the body is missing, invalid, unknown or repeated. `errors` contains each one and explains what to change. Nothing was changed. */
            422: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControlNoStore"];
                    /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                    "RateLimit-Policy"?: string;
                    /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                    RateLimit?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationException"];
                };
            };
            429: components["responses"]["TooManyRequestsException"];
            500: components["responses"]["ServerException"];
            501: components["responses"]["NotImplementedException"];
            503: components["responses"]["ServiceUnavailableException"];
        };
    };
    listEvents: {
        parameters: {
            query?: {
                /** @description The maximum number of items on a page. It may differ from page to page. */
                limit?: components["parameters"]["Limit"];
                /** @description The `next_cursor` of an earlier page. Send it with the same `type` as that page; `limit` may differ. It needs no `since`. A cursor is opaque: do not create or modify one. */
                cursor?: components["parameters"]["FeedCursor"];
                /** @description Return only events of this type. */
                type?: components["parameters"]["EventType"];
                /**
                 * @description Begin with the events that happened at or after this time. Use an RFC 3339 date and time with an offset, and encode
                 *     `+` as `%2B`. Without it, the feed begins with the oldest event that is kept.
                 *
                 *     It determines where the first page begins. To read on, use `cursor`, with which each event comes once. With a
                 *     `cursor`, it has no effect.
                 */
                since?: components["parameters"]["Since"];
            };
            header?: {
                /** @description Return the content only if its entity tag is not one of these. Otherwise, the response is 304 without a body. Send the last `ETag` that you received from the same URL. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of events. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControlRevalidate"];
                    /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                    "RateLimit-Policy"?: string;
                    /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                    RateLimit?: string;
                    ETag: components["headers"]["ETag"];
                    /** @description The URL of the next page, as a relative reference (RFC 8288). It keeps the `limit` and the `type` of this request. The last page has no such header. */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventPage"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequestException"];
            401: components["responses"]["AuthenticationException"];
            403: components["responses"]["AuthorizationException"];
            405: components["responses"]["MethodNotAllowedException"];
            406: components["responses"]["NotAcceptableException"];
            408: components["responses"]["RequestTimeoutException"];
            414: components["responses"]["UriTooLongException"];
            /** @description A parameter is invalid or unknown, or events after `cursor` or `since` are no longer kept. `errors` contains each one and explains what to change. */
            422: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControlNoStore"];
                    /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                    "RateLimit-Policy"?: string;
                    /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                    RateLimit?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationException"];
                };
            };
            429: components["responses"]["TooManyRequestsException"];
            500: components["responses"]["ServerException"];
            501: components["responses"]["NotImplementedException"];
            503: components["responses"]["ServiceUnavailableException"];
        };
    };
    getEvent: {
        parameters: {
            query?: never;
            header?: {
                /** @description Return the content only if its entity tag is not one of these. Otherwise, the response is 304 without a body. Send the last `ETag` that you received from the same URL. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description The ID of an event. */
                id: components["parameters"]["EventId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The event. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControlRevalidate"];
                    /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                    "RateLimit-Policy"?: string;
                    /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                    RateLimit?: string;
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Event"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequestException"];
            401: components["responses"]["AuthenticationException"];
            403: components["responses"]["AuthorizationException"];
            /** @description Your organization has no event with this `id`, or it is no longer kept. The response is the same for an ID that does not exist and for an ID that belongs to another organization. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControlNoStore"];
                    /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                    "RateLimit-Policy"?: string;
                    /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                    RateLimit?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NotFoundException"];
                };
            };
            405: components["responses"]["MethodNotAllowedException"];
            406: components["responses"]["NotAcceptableException"];
            408: components["responses"]["RequestTimeoutException"];
            414: components["responses"]["UriTooLongException"];
            /** @description A parameter is invalid or unknown. `errors` contains each one and explains what to change. */
            422: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControlNoStore"];
                    /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                    "RateLimit-Policy"?: string;
                    /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                    RateLimit?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationException"];
                };
            };
            429: components["responses"]["TooManyRequestsException"];
            500: components["responses"]["ServerException"];
            501: components["responses"]["NotImplementedException"];
            503: components["responses"]["ServiceUnavailableException"];
        };
    };
    getKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The API key that was sent with the request. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControlNoStore"];
                    /** @description The limits that apply to this API key and to its organization (draft-ietf-httpapi-ratelimit-headers-11): `q` requests in a window of `w` seconds. A key can have a limit of its own, below that of the other keys. Every response to an accepted key has this header, unless your server has no limits. */
                    "RateLimit-Policy"?: string;
                    /** @description The limit with the fewest requests left (draft-ietf-httpapi-ratelimit-headers-11): at least `r` requests are allowed within the next `t` seconds. With a 429, `r` is 0. Every response to an accepted key has this header, unless your server has no limits. */
                    RateLimit?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Key"];
                };
            };
            400: components["responses"]["BadRequestException"];
            401: components["responses"]["AuthenticationException"];
            403: components["responses"]["AuthorizationException"];
            405: components["responses"]["MethodNotAllowedException"];
            406: components["responses"]["NotAcceptableException"];
            408: components["responses"]["RequestTimeoutException"];
            414: components["responses"]["UriTooLongException"];
            422: components["responses"]["ValidationException"];
            429: components["responses"]["TooManyRequestsException"];
            500: components["responses"]["ServerException"];
            501: components["responses"]["NotImplementedException"];
            503: components["responses"]["ServiceUnavailableException"];
        };
    };
    onParentProgramCreated: {
        parameters: {
            query?: never;
            header: {
                /** @description The ID of the event. It is the same each time that the event is sent, so use it to recognize an event that you have handled before. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description When the message was sent, in seconds since 1970-01-01T00:00:00Z. Refuse a message that differs from your clock by more than five minutes: someone may have recorded it and sent it again. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description One or more signatures, separated by spaces. Each is `v1,` and the HMAC-SHA256 of `webhook-id`, `webhook-timestamp` and the body, joined with full stops, in base64. Its key is the base64 text after `whsec_` in the secret of the endpoint, decoded. For 24 hours after a rotation, both secrets sign. Ignore a signature that does not begin with `v1,`, and refuse a message if none is right. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description The event, exactly as `GET /api/events/{id}` returns it. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ParentProgramCreatedEvent"];
            };
        };
        responses: {
            410: components["responses"]["EndpointGone"];
            "2XX": components["responses"]["EventReceived"];
        };
    };
    onParentProgramUpdated: {
        parameters: {
            query?: never;
            header: {
                /** @description The ID of the event. It is the same each time that the event is sent, so use it to recognize an event that you have handled before. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description When the message was sent, in seconds since 1970-01-01T00:00:00Z. Refuse a message that differs from your clock by more than five minutes: someone may have recorded it and sent it again. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description One or more signatures, separated by spaces. Each is `v1,` and the HMAC-SHA256 of `webhook-id`, `webhook-timestamp` and the body, joined with full stops, in base64. Its key is the base64 text after `whsec_` in the secret of the endpoint, decoded. For 24 hours after a rotation, both secrets sign. Ignore a signature that does not begin with `v1,`, and refuse a message if none is right. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description The event, exactly as `GET /api/events/{id}` returns it. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ParentProgramUpdatedEvent"];
            };
        };
        responses: {
            410: components["responses"]["EndpointGone"];
            "2XX": components["responses"]["EventReceived"];
        };
    };
    onParentProgramDeleted: {
        parameters: {
            query?: never;
            header: {
                /** @description The ID of the event. It is the same each time that the event is sent, so use it to recognize an event that you have handled before. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description When the message was sent, in seconds since 1970-01-01T00:00:00Z. Refuse a message that differs from your clock by more than five minutes: someone may have recorded it and sent it again. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description One or more signatures, separated by spaces. Each is `v1,` and the HMAC-SHA256 of `webhook-id`, `webhook-timestamp` and the body, joined with full stops, in base64. Its key is the base64 text after `whsec_` in the secret of the endpoint, decoded. For 24 hours after a rotation, both secrets sign. Ignore a signature that does not begin with `v1,`, and refuse a message if none is right. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description The event, exactly as `GET /api/events/{id}` returns it. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ParentProgramDeletedEvent"];
            };
        };
        responses: {
            410: components["responses"]["EndpointGone"];
            "2XX": components["responses"]["EventReceived"];
        };
    };
    onWebhookTest: {
        parameters: {
            query?: never;
            header: {
                /** @description The ID of the event. It is the same each time that the event is sent, so use it to recognize an event that you have handled before. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description When the message was sent, in seconds since 1970-01-01T00:00:00Z. Refuse a message that differs from your clock by more than five minutes: someone may have recorded it and sent it again. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description One or more signatures, separated by spaces. Each is `v1,` and the HMAC-SHA256 of `webhook-id`, `webhook-timestamp` and the body, joined with full stops, in base64. Its key is the base64 text after `whsec_` in the secret of the endpoint, decoded. For 24 hours after a rotation, both secrets sign. Ignore a signature that does not begin with `v1,`, and refuse a message if none is right. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description A test event. It is not in the feed. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookTestEvent"];
            };
        };
        responses: {
            410: components["responses"]["EndpointGone"];
            "2XX": components["responses"]["EventReceived"];
        };
    };
}
export interface exampleNames {
    listParentPrograms: {
        200: "first_page" | "last_page" | "empty";
        304: never;
        400: "unreadable_address" | "unreadable_json";
        401: "missing_key" | "invalid_key" | "mistyped_key" | "key_cut_short" | "key_too_long" | "expired_key" | "rotated_key" | "revoked_key" | "wrong_environment";
        403: "organization_suspended" | "without_read" | "without_write" | "forbidden_address";
        405: "parent_programs" | "parent_program" | "parent_program_by_external_id" | "key";
        406: "not_json";
        408: "late_headers" | "late_body";
        414: "address_too_long";
        422: "limit" | "unknown_parameter" | "repeated_parameter" | "cursor" | "updated_since" | "updated_since_impossible";
        429: "key_limit" | "own_limit" | "organization_limit" | "address_limit" | "forbidden_address";
        500: "unexpected";
        501: "transfer_coding";
        503: "unavailable";
    };
    createParentProgram: {
        201: "full" | "minimal";
        400: "unreadable_address" | "unreadable_json";
        401: "missing_key" | "invalid_key" | "mistyped_key" | "key_cut_short" | "key_too_long" | "expired_key" | "rotated_key" | "revoked_key" | "wrong_environment";
        403: "organization_suspended" | "without_read" | "without_write" | "forbidden_address";
        405: "parent_programs" | "parent_program" | "parent_program_by_external_id" | "key";
        406: "not_json";
        408: "late_headers" | "late_body";
        409: "external_id_taken";
        413: "body_too_large";
        414: "address_too_long";
        415: "not_json" | "compressed";
        422: "metadata_value" | "unknown_field" | "repeated_field" | "blank_name" | "body_not_object" | "idempotency_key_reused" | "unknown_parameter";
        429: "key_limit" | "own_limit" | "organization_limit" | "address_limit" | "forbidden_address";
        500: "unexpected";
        501: "transfer_coding";
        503: "unavailable";
    };
    batchParentPrograms: {
        200: "upserts" | "every_action";
        400: "unreadable_address" | "unreadable_json";
        401: "missing_key" | "invalid_key" | "mistyped_key" | "key_cut_short" | "key_too_long" | "expired_key" | "rotated_key" | "revoked_key" | "wrong_environment";
        403: "organization_suspended" | "without_read" | "without_write" | "forbidden_address";
        405: "parent_programs" | "parent_program" | "parent_program_by_external_id" | "key";
        406: "not_json";
        408: "late_headers" | "late_body";
        409: "change_refused";
        412: "change_refused";
        413: "body_too_large";
        414: "address_too_long";
        415: "not_json" | "compressed";
        422: "no_changes" | "unknown_action" | "change_refused" | "idempotency_key_reused" | "body_not_object" | "unknown_parameter";
        429: "key_limit" | "own_limit" | "organization_limit" | "address_limit" | "forbidden_address";
        500: "unexpected";
        501: "transfer_coding";
        503: "unavailable";
    };
    getParentProgramByExternalId: {
        200: "full";
        304: never;
        400: "unreadable_address" | "unreadable_json";
        401: "missing_key" | "invalid_key" | "mistyped_key" | "key_cut_short" | "key_too_long" | "expired_key" | "rotated_key" | "revoked_key" | "wrong_environment";
        403: "organization_suspended" | "without_read" | "without_write" | "forbidden_address";
        404: "no_such_parent_program";
        405: "parent_programs" | "parent_program" | "parent_program_by_external_id" | "key";
        406: "not_json";
        408: "late_headers" | "late_body";
        414: "address_too_long";
        422: "external_id" | "unknown_parameter" | "if_none_match";
        429: "key_limit" | "own_limit" | "organization_limit" | "address_limit" | "forbidden_address";
        500: "unexpected";
        501: "transfer_coding";
        503: "unavailable";
    };
    upsertParentProgram: {
        200: "replaced";
        201: "created";
        400: "unreadable_address" | "unreadable_json";
        401: "missing_key" | "invalid_key" | "mistyped_key" | "key_cut_short" | "key_too_long" | "expired_key" | "rotated_key" | "revoked_key" | "wrong_environment";
        403: "organization_suspended" | "without_read" | "without_write" | "forbidden_address";
        405: "parent_programs" | "parent_program" | "parent_program_by_external_id" | "key";
        406: "not_json";
        408: "late_headers" | "late_body";
        412: "stale_entity_tag" | "exists_already" | "does_not_exist" | "weak_entity_tag";
        413: "body_too_large";
        414: "address_too_long";
        415: "not_json" | "compressed";
        422: "external_id" | "unknown_field" | "blank_name" | "metadata_value" | "repeated_field" | "body_not_object" | "if_match" | "if_none_match" | "unknown_parameter";
        429: "key_limit" | "own_limit" | "organization_limit" | "address_limit" | "forbidden_address";
        500: "unexpected";
        501: "transfer_coding";
        503: "unavailable";
    };
    deleteParentProgramByExternalId: {
        204: never;
        400: "unreadable_address" | "unreadable_json";
        401: "missing_key" | "invalid_key" | "mistyped_key" | "key_cut_short" | "key_too_long" | "expired_key" | "rotated_key" | "revoked_key" | "wrong_environment";
        403: "organization_suspended" | "without_read" | "without_write" | "forbidden_address";
        404: "no_such_parent_program";
        405: "parent_programs" | "parent_program" | "parent_program_by_external_id" | "key";
        406: "not_json";
        408: "late_headers" | "late_body";
        412: "stale_entity_tag" | "weak_entity_tag";
        414: "address_too_long";
        422: "external_id" | "if_match" | "unknown_parameter";
        429: "key_limit" | "own_limit" | "organization_limit" | "address_limit" | "forbidden_address";
        500: "unexpected";
        501: "transfer_coding";
        503: "unavailable";
    };
    getParentProgram: {
        200: "full" | "minimal";
        304: never;
        400: "unreadable_address" | "unreadable_json";
        401: "missing_key" | "invalid_key" | "mistyped_key" | "key_cut_short" | "key_too_long" | "expired_key" | "rotated_key" | "revoked_key" | "wrong_environment";
        403: "organization_suspended" | "without_read" | "without_write" | "forbidden_address";
        404: "no_such_parent_program";
        405: "parent_programs" | "parent_program" | "parent_program_by_external_id" | "key";
        406: "not_json";
        408: "late_headers" | "late_body";
        414: "address_too_long";
        422: "id" | "unknown_parameter" | "if_none_match";
        429: "key_limit" | "own_limit" | "organization_limit" | "address_limit" | "forbidden_address";
        500: "unexpected";
        501: "transfer_coding";
        503: "unavailable";
    };
    updateParentProgram: {
        200: "renamed" | "without_external_id" | "metadata_entry_changed";
        400: "unreadable_address" | "unreadable_json";
        401: "missing_key" | "invalid_key" | "mistyped_key" | "key_cut_short" | "key_too_long" | "expired_key" | "rotated_key" | "revoked_key" | "wrong_environment";
        403: "organization_suspended" | "without_read" | "without_write" | "forbidden_address";
        404: "no_such_parent_program";
        405: "parent_programs" | "parent_program" | "parent_program_by_external_id" | "key";
        406: "not_json";
        408: "late_headers" | "late_body";
        409: "external_id_taken";
        412: "stale_entity_tag" | "weak_entity_tag";
        413: "body_too_large";
        414: "address_too_long";
        415: "not_json" | "compressed";
        422: "name_null" | "unknown_field" | "repeated_field" | "metadata_count" | "id" | "if_match" | "unknown_parameter";
        429: "key_limit" | "own_limit" | "organization_limit" | "address_limit" | "forbidden_address";
        500: "unexpected";
        501: "transfer_coding";
        503: "unavailable";
    };
    deleteParentProgram: {
        204: never;
        400: "unreadable_address" | "unreadable_json";
        401: "missing_key" | "invalid_key" | "mistyped_key" | "key_cut_short" | "key_too_long" | "expired_key" | "rotated_key" | "revoked_key" | "wrong_environment";
        403: "organization_suspended" | "without_read" | "without_write" | "forbidden_address";
        404: "no_such_parent_program";
        405: "parent_programs" | "parent_program" | "parent_program_by_external_id" | "key";
        406: "not_json";
        408: "late_headers" | "late_body";
        412: "stale_entity_tag" | "weak_entity_tag";
        414: "address_too_long";
        422: "id" | "if_match" | "unknown_parameter";
        429: "key_limit" | "own_limit" | "organization_limit" | "address_limit" | "forbidden_address";
        500: "unexpected";
        501: "transfer_coding";
        503: "unavailable";
    };
    listEvents: {
        200: "first_page" | "last_page" | "empty";
        304: never;
        400: "unreadable_address" | "unreadable_json";
        401: "missing_key" | "invalid_key" | "mistyped_key" | "key_cut_short" | "key_too_long" | "expired_key" | "rotated_key" | "revoked_key" | "wrong_environment";
        403: "organization_suspended" | "without_read" | "without_write" | "forbidden_address";
        405: "parent_programs" | "parent_program" | "parent_program_by_external_id" | "key";
        406: "not_json";
        408: "late_headers" | "late_body";
        414: "address_too_long";
        422: "limit" | "unknown_parameter" | "repeated_parameter" | "cursor" | "cursor_too_old" | "type" | "since" | "since_too_old";
        429: "key_limit" | "own_limit" | "organization_limit" | "address_limit" | "forbidden_address";
        500: "unexpected";
        501: "transfer_coding";
        503: "unavailable";
    };
    getEvent: {
        200: "updated" | "created" | "deleted";
        304: never;
        400: "unreadable_address" | "unreadable_json";
        401: "missing_key" | "invalid_key" | "mistyped_key" | "key_cut_short" | "key_too_long" | "expired_key" | "rotated_key" | "revoked_key" | "wrong_environment";
        403: "organization_suspended" | "without_read" | "without_write" | "forbidden_address";
        404: "no_such_event";
        405: "parent_programs" | "parent_program" | "parent_program_by_external_id" | "key";
        406: "not_json";
        408: "late_headers" | "late_body";
        414: "address_too_long";
        422: "id" | "unknown_parameter" | "if_none_match";
        429: "key_limit" | "own_limit" | "organization_limit" | "address_limit" | "forbidden_address";
        500: "unexpected";
        501: "transfer_coding";
        503: "unavailable";
    };
    getKey: {
        200: "read_write" | "read_only";
        400: "unreadable_address" | "unreadable_json";
        401: "missing_key" | "invalid_key" | "mistyped_key" | "key_cut_short" | "key_too_long" | "expired_key" | "rotated_key" | "revoked_key" | "wrong_environment";
        403: "organization_suspended" | "without_read" | "without_write" | "forbidden_address";
        405: "parent_programs" | "parent_program" | "parent_program_by_external_id" | "key";
        406: "not_json";
        408: "late_headers" | "late_body";
        414: "address_too_long";
        422: "unknown_parameter";
        429: "key_limit" | "own_limit" | "organization_limit" | "address_limit" | "forbidden_address";
        500: "unexpected";
        501: "transfer_coding";
        503: "unavailable";
    };
}
