import type { IncomingMessage, ServerResponse } from "node:http";

/** What the admin port answers, by method and path. What a handler throws is answered with 500. */
export type AdminRoutes = Readonly<Record<string, AdminHandler>>;

export type AdminHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;
