import type { Look } from "@/server/clusters/waitUntil";
import { lastWords } from "./rayWords";
import type { ServeApplication } from "./serveState";

/** How far Ray is with an engine's application: waiting with the reason, or failed; null once it runs and answers for itself. */
export function engineLook({ status, message, deployments }: ServeApplication): Look | null {
  const faulty = deployments.find((one) => ["DEPLOY_FAILED", "UNHEALTHY"].includes(one.status) && one.message !== "");
  const words = lastWords(faulty?.message ?? message);
  if (status === "DEPLOY_FAILED") return { failed: `Ray could not deploy it: ${words}` };
  if (status === "UNHEALTHY") return { waiting: `Ray finds it unhealthy: ${words}` };
  if (status === "DELETING") return { waiting: "it is ending" };
  if (status === "RUNNING") return null;
  const slow = deployments.find((one) => one.message !== "");
  if (slow !== undefined) return { waiting: `Ray says: ${lastWords(slow.message)}` };
  return { waiting: deployments.length === 0 ? "Ray imports and builds its application" : "Ray brings its replica up" };
}
