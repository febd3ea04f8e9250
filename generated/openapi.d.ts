// Made from openapi/ by "npm run generate". Do not edit.
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
         * @description Lists the parent programs of your organization, a page at a time. Filters add up: a parent program is listed when
         *     it meets all of them.
         *
         *     To read on, follow the `Link` header, or send `next_cursor` as `cursor`, until there is none. Parent programs that
         *     are there throughout appear exactly once, whatever is created or deleted meanwhile, as long as what they are
         *     sorted by does not change.
         *
         *     Send the last `ETag` of the same address in `If-None-Match` to get 304 when nothing has changed.
         */
        get: operations["listParentPrograms"];
        put?: never;
        /**
         * Create a parent program
         * @description Creates a parent program in your organization.
         *
         *     Send an `Idempotency-Key` so that you can repeat the request after a time-out: for 24 hours the same key with the
         *     same body creates nothing more and gets the first answer again, even if the parent program has changed since.
         */
        post: operations["createParentProgram"];
        delete?: never;
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
         * @description Gets one parent program of your organization. An id of another organization gets the same 404 as an id that does
         *     not exist.
         *
         *     Send its last `ETag` in `If-None-Match` to get 304 when it has not changed.
         */
        get: operations["getParentProgram"];
        put?: never;
        post?: never;
        /**
         * Delete a parent program
         * @description Deletes one parent program of your organization for good. Its `external_id` is free again.
         *
         *     Send the `ETag` that you last got in `If-Match`, so that a version that you have not seen is not deleted: the
         *     answer is then 412.
         *
         *     An id of another organization gets the same 404 as an id that does not exist, and so does one that is deleted
         *     already.
         */
        delete: operations["deleteParentProgram"];
        options?: never;
        head?: never;
        /**
         * Update a parent program
         * @description Changes the fields that you send and keeps the others: the body is a JSON merge patch (RFC 7396), sent as
         *     `application/json`. Null clears `description`, `external_id`, `metadata` or one entry of `metadata`. An empty
         *     object changes nothing.
         *
         *     Send the `ETag` that you last got in `If-Match`, so that a change made by somebody else meanwhile is not
         *     overwritten: the answer is then 412. Without `If-Match` the change is made in any case.
         *
         *     An id of another organization gets the same 404 as an id that does not exist.
         */
        patch: operations["updateParentProgram"];
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
         * Get the calling key
         * @description Tells which API key the request was sent with, what it may do, when it expires and which organization it belongs to, never its secret. Every accepted key may ask, whatever its permissions: it is a good first call.
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
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * @description Your own fields: up to 50 entries. A key has 1 to 40 characters, a value is a string of up to 500 characters. The API stores them and reads nothing into them.
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
             * @description The id, a UUID of version 7. Charter chooses it, and it never changes.
             * @example 019c2291-34b8-752e-bca9-6513269e0d37
             */
            id: string;
            /**
             * @description The name. It need not be unique.
             * @example Nordic Scholars Exchange
             */
            name: string;
            /**
             * @description A longer text. Null when there is none.
             * @example One semester at a partner university in Denmark, Finland, Norway or Sweden.
             */
            description: string | null;
            /**
             * @description Your own id for the parent program, unique in your organization. Null when there is none.
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
             * @description When the parent program was last changed, in UTC. Until the first change it equals `created_at`.
             * @example 2026-03-19T09:02:51.340Z
             */
            updated_at: string;
        };
        /** @description Where this page stands in the list. */
        Page: {
            /**
             * @description How many items a page holds at most.
             * @example 25
             */
            limit: number;
            /**
             * @description Send it as `cursor` to get the next page. Null when this page is the last one.
             * @example 9zM8mWKL90nNjKwMGsOAC1AZxM7jNfemqDF9I_EosvMwAC7YtHQMsY
             */
            next_cursor: string | null;
        };
        /** @description One page of parent programs. */
        ParentProgramPage: {
            /** @description The parent programs of this page, in the order of `sort`. Empty when none matches. */
            data: components["schemas"]["ParentProgram"][];
            page: components["schemas"]["Page"];
        };
        /** @description The request cannot be read. */
        BadRequestException: {
            /**
             * @description What is wrong, and what to do about it. It is made for people, so do not parse it.
             * @example The query holds a percent-encoding that is not valid UTF-8: %ff
             */
            message: string;
        };
        /** @description The API key is missing or not accepted. */
        AuthenticationException: {
            /**
             * @description What is wrong, and what to do about it. It is made for people, so do not parse it.
             * @example Send an API key in the Authorization header: Bearer <API_KEY>.
             */
            message: string;
        };
        /** @description The API key is valid, but it may not do this. */
        AuthorizationException: {
            /**
             * @description What is wrong, and what to do about it. It is made for people, so do not parse it.
             * @example The organization Aurora Education Group is suspended. Contact support.
             */
            message: string;
        };
        /** @description The path does not take this method. */
        MethodNotAllowedException: {
            /**
             * @description What is wrong, and what to do about it. It is made for people, so do not parse it.
             * @example This path does not take PUT. It takes: GET, HEAD, POST.
             */
            message: string;
        };
        /** @description The answer cannot be given in the form that was asked for. */
        NotAcceptableException: {
            /**
             * @description What is wrong, and what to do about it. It is made for people, so do not parse it.
             * @example The answer is application/json, which the Accept header rules out. Send Accept: application/json, or none.
             */
            message: string;
        };
        /** @description The address is too long. */
        UriTooLongException: {
            /**
             * @description What is wrong, and what to do about it. It is made for people, so do not parse it.
             * @example The URL is longer than 8192 bytes (8 KiB). Shorten it.
             */
            message: string;
        };
        /** @description The parameters, the headers or the body are not valid. */
        ValidationException: {
            /**
             * @description What is wrong, and what to do about it. It is made for people, so do not parse it.
             * @example limit must be an integer from 1 to 100.
             */
            message: string;
            /**
             * @description What to change, by field. A field of the body has its own name (`name`), an entry of an object stands behind a dot (`metadata.colour`), and the body as a whole is `body`. A path, query or header parameter has its own name (`id`, `limit`, `Idempotency-Key`, `If-Match`).
             * @example {
             *       "limit": [
             *         "must be an integer from 1 to 100."
             *       ]
             *     }
             */
            errors: {
                [key: string]: string[];
            };
        };
        /** @description Something went wrong on the side of the server. */
        ServerException: {
            /**
             * @description What is wrong, and what to do about it. It is made for people, so do not parse it.
             * @example Something went wrong on our side. Try again, and tell support the X-Request-Id if it happens again.
             */
            message: string;
        };
        /** @description The service cannot answer at the moment. */
        ServiceUnavailableException: {
            /**
             * @description What is wrong, and what to do about it. It is made for people, so do not parse it.
             * @example The service cannot answer at the moment. Try again in a few seconds.
             */
            message: string;
        };
        /** @description A parent program to create. Only `name` is required. */
        ParentProgramCreate: {
            /**
             * @description The name. It need not be unique.
             * @example Nordic Scholars Exchange
             */
            name: string;
            /**
             * @description A longer text. Null, or left out, means none.
             * @example One semester at a partner university in Denmark, Finland, Norway or Sweden.
             */
            description?: string | null;
            /**
             * @description Your own id for the parent program, unique in your organization. Null, or left out, means none.
             * @example sis-20417
             */
            external_id?: string | null;
            metadata?: components["schemas"]["Metadata"];
        };
        /** @description The request conflicts with what is stored. */
        ConflictException: {
            /**
             * @description What is wrong, and what to do about it. It is made for people, so do not parse it.
             * @example Another parent program of your organization has the external_id "sis-20417". Use another one, or update that program.
             */
            message: string;
        };
        /** @description The body is too large. */
        PayloadTooLargeException: {
            /**
             * @description What is wrong, and what to do about it. It is made for people, so do not parse it.
             * @example The body is larger than 102400 bytes (100 KiB). Send less at once.
             */
            message: string;
        };
        /** @description The body is not in a form that is taken. */
        UnsupportedMediaTypeException: {
            /**
             * @description What is wrong, and what to do about it. It is made for people, so do not parse it.
             * @example The body must be JSON in UTF-8. Send Content-Type: application/json.
             */
            message: string;
        };
        /** @description There is nothing at this address. */
        NotFoundException: {
            /**
             * @description What is wrong, and what to do about it. It is made for people, so do not parse it.
             * @example There is no parent program with this id.
             */
            message: string;
        };
        /** @description The parent program is not in the version that was named. */
        PreconditionFailedException: {
            /**
             * @description What is wrong, and what to do about it. It is made for people, so do not parse it.
             * @example The parent program has changed since you read it. Read it again, then retry with its new ETag in If-Match.
             */
            message: string;
        };
        /** @description The changes to a parent program, as a JSON merge patch (RFC 7396). A field that is left out stays as it is, and null clears a field. An empty object changes nothing. */
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
             * @description Your own id for the parent program, unique in your organization. Null clears it.
             * @example sis-20417
             */
            external_id?: string | null;
            /**
             * @description The entries to change. A string sets an entry, null removes it, and entries that are left out stay as they are. Null in place of the object removes every entry. At most 50 entries may remain after the change.
             * @example {
             *       "colour": "amber",
             *       "region": null
             *     }
             */
            metadata?: {
                [key: string]: string | null;
            } | null;
        };
        /**
         * @description What a key may do. `parent_programs:read` lists and gets parent programs. `parent_programs:write` creates, updates and deletes them.
         * @example parent_programs:read
         * @enum {string}
         */
        Permission: "parent_programs:read" | "parent_programs:write";
        /** @description The organization that the key belongs to. The key reaches nothing outside it. */
        KeyOrganization: {
            /**
             * Format: uuid
             * @description The id of the organization.
             * @example 019b9c83-28c0-711e-8f67-8d111738f7d9
             */
            id: string;
            /**
             * @description The name of the organization.
             * @example Aurora Education Group
             */
            name: string;
        };
        /** @description The API key that the request was sent with, never its secret. */
        Key: {
            /**
             * Format: uuid
             * @description The id of the key. It is no secret.
             * @example 019de2fb-197b-76ca-83c8-90c1d3ac94af
             */
            id: string;
            /**
             * @description The name that the key was given in the dashboard.
             * @example Nightly sync
             */
            name: string;
            /**
             * @description What the key may do now: the permissions that it was given, as far as the role of its user still allows them.
             * @example [
             *       "parent_programs:read",
             *       "parent_programs:write"
             *     ]
             */
            permissions: components["schemas"]["Permission"][];
            /**
             * Format: date-time
             * @description When the key expires, in UTC. Null when it does not expire.
             * @example 2027-05-01T10:00:00.123Z
             */
            expires_at: string | null;
            organization: components["schemas"]["KeyOrganization"];
        };
    };
    responses: {
        /** @description The content is still the one that an entity tag in `If-None-Match` stands for. The answer has no body: go on using your copy. */
        NotModified: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                "Cache-Control": components["headers"]["CacheControlRevalidate"];
                ETag: components["headers"]["ETag"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description The request cannot be read: its body is not JSON in UTF-8 or ends too early, or its address holds a percent-encoding that is not UTF-8. */
        BadRequestException: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                "Cache-Control": components["headers"]["CacheControlNoStore"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["BadRequestException"];
            };
        };
        /** @description The API key is missing or not accepted. Of the request, only the address and the method have been looked at. */
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
        /** @description The API key is valid, but the key, its user or its organization may not do this. */
        AuthorizationException: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                "Cache-Control": components["headers"]["CacheControlNoStore"];
                "WWW-Authenticate": components["headers"]["WwwAuthenticatePermission"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AuthorizationException"];
            };
        };
        /** @description Another method was sent on this path. The `Allow` header names the methods that the path takes. */
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
        /** @description The `Accept` header excludes `application/json`, the one media type that this API answers with. */
        NotAcceptableException: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                "Cache-Control": components["headers"]["CacheControlNoStore"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["NotAcceptableException"];
            };
        };
        /** @description The address, from the path to the end of the query, is longer than 8,192 bytes (8 KiB). */
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
        /** @description Something went wrong on our side. The answer says nothing of its cause; our logs hold it under the `X-Request-Id`. */
        ServerException: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                "Cache-Control": components["headers"]["CacheControlNoStore"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ServerException"];
            };
        };
        /** @description The service cannot answer at the moment. Send the same request again after the seconds that `Retry-After` names. */
        ServiceUnavailableException: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                "Cache-Control": components["headers"]["CacheControlNoStore"];
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ServiceUnavailableException"];
            };
        };
        /** @description Another parent program of your organization has this `external_id`. Nothing was changed. */
        ConflictException: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                "Cache-Control": components["headers"]["CacheControlNoStore"];
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
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["UnsupportedMediaTypeException"];
            };
        };
        /** @description Your organization has no parent program with this `id`. The answer is the same for an id that does not exist and for an id of another organization. */
        NotFoundException: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                "Cache-Control": components["headers"]["CacheControlNoStore"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["NotFoundException"];
            };
        };
        /** @description The parent program has changed since you read it: none of the entity tags in `If-Match` is its current one. Nothing was changed. */
        PreconditionFailedException: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                "Cache-Control": components["headers"]["CacheControlNoStore"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["PreconditionFailedException"];
            };
        };
        /** @description A parameter is not valid. `errors` names each one and says what to change. */
        ValidationException: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                "Cache-Control": components["headers"]["CacheControlNoStore"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ValidationException"];
            };
        };
    };
    parameters: {
        /** @description How many parent programs a page holds at most. It may change from page to page. */
        Limit: number;
        /** @description The `next_cursor` of the page before. Send it with the same `sort` and the same filters as that page; `limit` may change. It is opaque: do not make or change one. */
        Cursor: string;
        /** @description The order of the list. A minus sign turns it around. `name` sorts by Unicode code point, so `Z` comes before `a`. Equal values are ordered by `id`, in the same direction. */
        Sort: "created_at" | "-created_at" | "updated_at" | "-updated_at" | "name" | "-name";
        /** @description Only parent programs whose name contains this text. Upper and lower case are alike. Every character stands for itself: there are no wildcards. */
        Search: string;
        /** @description Only the parent program with exactly this `external_id`. */
        ExternalId: string;
        /**
         * @description Only parent programs that were changed at or after this moment. Write it as RFC 3339 with an offset, and send `+` as
         *     `%2B`.
         *
         *     To keep a copy in step, start each round from a minute before the latest `updated_at` that you saw: a change that
         *     was under way while you read a page can appear a moment later. Deleted parent programs are not listed.
         */
        UpdatedSince: string;
        /** @description Answer with the content only if it has none of these entity tags; otherwise the answer is 304, without a body. Send the `ETag` that you last got from the same address. */
        IfNoneMatch: string;
        /**
         * @description A value of your own that names this one creation, a random UUID for example. It makes the request safe to send
         *     again: for 24 hours the same key with the same body creates nothing more and gets the first answer again. The same
         *     key with another body is refused with 422.
         *
         *     Keys count within your organization, whichever API key sends them. Only a creation that succeeded is remembered.
         */
        IdempotencyKey: string;
        /** @description The id of a parent program. */
        ParentProgramId: string;
        /** @description Do this only if the parent program still has one of these entity tags; otherwise the answer is 412 and nothing is changed. Send the `ETag` that you last got, so that nobody's change is lost. `*` matches every parent program that exists. A weak tag (`W/`) never matches. */
        IfMatch: string;
    };
    requestBodies: never;
    headers: {
        /** @description Names this request in our logs. Quote it when you contact support. */
        XRequestId: string;
        /** @description Caches of your own may keep the answer, but must ask with `If-None-Match` before each use. */
        CacheControlRevalidate: "private, no-cache";
        /** @description Stands for exactly this content (RFC 9110 section 8.8.3), and is strong. Send it back in `If-None-Match` or, that of one parent program, in `If-Match`. Do not parse it. */
        ETag: string;
        /** @description No cache may keep the answer. */
        CacheControlNoStore: "no-store";
        /** @description How to authenticate (RFC 6750 section 3). `error="invalid_token"` is added when a key was sent and is not accepted. */
        WwwAuthenticateCredentials: "Bearer realm=\"charter\"" | "Bearer realm=\"charter\", error=\"invalid_token\"";
        /** @description Why the key is not enough (RFC 6750 section 3). `scope` names the permission that is needed; it is absent when no permission would help. */
        WwwAuthenticatePermission: "Bearer realm=\"charter\", error=\"insufficient_scope\"" | "Bearer realm=\"charter\", error=\"insufficient_scope\", scope=\"parent_programs:read\"" | "Bearer realm=\"charter\", error=\"insufficient_scope\", scope=\"parent_programs:write\"";
        /** @description The methods that this path takes. */
        Allow: string;
        /** @description After how many seconds to try again. */
        RetryAfter: number;
        /** @description Where the new parent program is, as a relative reference. */
        Location: string;
        /** @description The media type that a `PATCH` takes (RFC 5789). */
        AcceptPatch: "application/json";
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listParentPrograms: {
        parameters: {
            query?: {
                /** @description How many parent programs a page holds at most. It may change from page to page. */
                limit?: components["parameters"]["Limit"];
                /** @description The `next_cursor` of the page before. Send it with the same `sort` and the same filters as that page; `limit` may change. It is opaque: do not make or change one. */
                cursor?: components["parameters"]["Cursor"];
                /** @description The order of the list. A minus sign turns it around. `name` sorts by Unicode code point, so `Z` comes before `a`. Equal values are ordered by `id`, in the same direction. */
                sort?: components["parameters"]["Sort"];
                /** @description Only parent programs whose name contains this text. Upper and lower case are alike. Every character stands for itself: there are no wildcards. */
                search?: components["parameters"]["Search"];
                /** @description Only the parent program with exactly this `external_id`. */
                external_id?: components["parameters"]["ExternalId"];
                /**
                 * @description Only parent programs that were changed at or after this moment. Write it as RFC 3339 with an offset, and send `+` as
                 *     `%2B`.
                 *
                 *     To keep a copy in step, start each round from a minute before the latest `updated_at` that you saw: a change that
                 *     was under way while you read a page can appear a moment later. Deleted parent programs are not listed.
                 */
                updated_since?: components["parameters"]["UpdatedSince"];
            };
            header?: {
                /** @description Answer with the content only if it has none of these entity tags; otherwise the answer is 304, without a body. Send the `ETag` that you last got from the same address. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of parent programs. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControlRevalidate"];
                    ETag: components["headers"]["ETag"];
                    /** @description The next page, as a relative reference (RFC 8288). It keeps `limit`, `sort` and the filters of this request. Absent on the last page. */
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
            414: components["responses"]["UriTooLongException"];
            /** @description A parameter is not valid, or is not known. `errors` names each one and says what to change. */
            422: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControlNoStore"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationException"];
                };
            };
            500: components["responses"]["ServerException"];
            503: components["responses"]["ServiceUnavailableException"];
        };
    };
    createParentProgram: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A value of your own that names this one creation, a random UUID for example. It makes the request safe to send
                 *     again: for 24 hours the same key with the same body creates nothing more and gets the first answer again. The same
                 *     key with another body is refused with 422.
                 *
                 *     Keys count within your organization, whichever API key sends them. Only a creation that succeeded is remembered.
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
            409: components["responses"]["ConflictException"];
            413: components["responses"]["PayloadTooLargeException"];
            414: components["responses"]["UriTooLongException"];
            415: components["responses"]["UnsupportedMediaTypeException"];
            /** @description The body or a parameter is not valid, or holds something that is not known. `errors` names each field and says what to change. Nothing was changed. */
            422: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControlNoStore"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationException"];
                };
            };
            500: components["responses"]["ServerException"];
            503: components["responses"]["ServiceUnavailableException"];
        };
    };
    getParentProgram: {
        parameters: {
            query?: never;
            header?: {
                /** @description Answer with the content only if it has none of these entity tags; otherwise the answer is 304, without a body. Send the `ETag` that you last got from the same address. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description The id of a parent program. */
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
            414: components["responses"]["UriTooLongException"];
            /** @description A parameter is not valid, or is not known. `errors` names each one and says what to change. */
            422: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControlNoStore"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationException"];
                };
            };
            500: components["responses"]["ServerException"];
            503: components["responses"]["ServiceUnavailableException"];
        };
    };
    deleteParentProgram: {
        parameters: {
            query?: never;
            header?: {
                /** @description Do this only if the parent program still has one of these entity tags; otherwise the answer is 412 and nothing is changed. Send the `ETag` that you last got, so that nobody's change is lost. `*` matches every parent program that exists. A weak tag (`W/`) never matches. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of a parent program. */
                id: components["parameters"]["ParentProgramId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The parent program was deleted. The answer has no body. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControlNoStore"];
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
            412: components["responses"]["PreconditionFailedException"];
            414: components["responses"]["UriTooLongException"];
            /** @description A parameter is not valid, or is not known. `errors` names each one and says what to change. */
            422: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControlNoStore"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationException"];
                };
            };
            500: components["responses"]["ServerException"];
            503: components["responses"]["ServiceUnavailableException"];
        };
    };
    updateParentProgram: {
        parameters: {
            query?: never;
            header?: {
                /** @description Do this only if the parent program still has one of these entity tags; otherwise the answer is 412 and nothing is changed. Send the `ETag` that you last got, so that nobody's change is lost. `*` matches every parent program that exists. A weak tag (`W/`) never matches. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of a parent program. */
                id: components["parameters"]["ParentProgramId"];
            };
            cookie?: never;
        };
        /** @description The changes. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ParentProgramUpdate"];
            };
        };
        responses: {
            /** @description The parent program as it is after the change. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControlNoStore"];
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
            409: components["responses"]["ConflictException"];
            412: components["responses"]["PreconditionFailedException"];
            413: components["responses"]["PayloadTooLargeException"];
            414: components["responses"]["UriTooLongException"];
            /** @description The `Content-Type` header is missing or is not JSON in UTF-8, or the body is compressed. The `Accept-Patch` header names what to send. */
            415: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControlNoStore"];
                    "Accept-Patch": components["headers"]["AcceptPatch"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UnsupportedMediaTypeException"];
                };
            };
            /** @description The body or a parameter is not valid, or holds something that is not known. `errors` names each field and says what to change. Nothing was changed. */
            422: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControlNoStore"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationException"];
                };
            };
            500: components["responses"]["ServerException"];
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
            /** @description The key that the request was sent with. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControlNoStore"];
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
            414: components["responses"]["UriTooLongException"];
            422: components["responses"]["ValidationException"];
            500: components["responses"]["ServerException"];
            503: components["responses"]["ServiceUnavailableException"];
        };
    };
}
