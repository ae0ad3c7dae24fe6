import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { sendJson } from "../http/apiError";
import { isMissing } from "../lib/durableFile";
import type { FeatureLog } from "../prediction/featureLog";
import type { AdminRoutes } from "./adminRoutes";

/** What the admin port answers about what is remembered of answered requests: all of it, and to forget it. */
export function learningRoutes({ featureLog }: { readonly featureLog: FeatureLog }): AdminRoutes {
  return {
    "GET /learning": async (_, response) => {
      response.writeHead(200, { "content-type": "application/x-ndjson" });
      for (const path of await featureLog.files()) {
        await pipeline(createReadStream(path), response, { end: false }).catch((error) => {
          if (!isMissing(error)) throw error;
        });
      }
      response.end();
    },
    "DELETE /learning": async (_, response) => {
      await featureLog.erase();
      sendJson(response, { erased: true });
    },
  };
}
