import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import type { AdminRoutes } from "./adminRoutes";
import { sendJson } from "./apiError";
import { isMissing } from "./durableFile";
import type { LearningBook } from "./learningBook";

/** What the admin port answers about what is remembered of answered requests: all of it, and to forget it. */
export function learningRoutes({ book }: { readonly book: LearningBook }): AdminRoutes {
  return {
    "GET /learning": async (_, response) => {
      response.writeHead(200, { "content-type": "application/x-ndjson" });
      for (const path of await book.files()) {
        await pipeline(createReadStream(path), response, { end: false }).catch((error) => {
          if (!isMissing(error)) throw error;
        });
      }
      response.end();
    },
    "DELETE /learning": async (_, response) => {
      await book.erase();
      sendJson(response, { erased: true });
    },
  };
}
