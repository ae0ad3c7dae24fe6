import { type LabSpec, labSpecSchema } from "@/solver/lab/labSpec";
import { packText, unpackText } from "../url/packText";

/**
 * What descriptions mostly consist of. It is part of every link that was ever copied: a change of it makes those unreadable, so it would
 * need another mark than `1`. It keeps the name that a field had when the first links were made.
 */
const KNOWN =
  '{"workloadId":"","mix":[{"workflow":"planner-coder-qa-coder","share":1},{"workflow":"planner-coder","share":1},{"workflow":"coder","share":1}],"correlation":0.5,"programs":500,"arrivals":"poisson","replicas":[{"model":"qwen2.5-7b","gpu":"h100-sxm","precision":"bf16","tp":1,"pp":1,"count":1}],"usdPerGpuHour":2.5,"queue":"centre","aging":null,"telemetrySeconds":1,"overhead":{"routeSeconds":0.005,"predictSeconds":0.002,"decideSeconds":0.001},"rates":[1],"seeds":[1,2,3],"systems":[{"name":"vLLM balancing","policy":{"kind":"balanced","models":[{"model":"","maxBatchSize":256}],"order":{"kind":"fcfs"},"place":{"kind":"least-load"}},"lengths":"none","confidence":"none"},{"name":"Chimera, oracle predictor","policy":{"kind":"slack","models":[{"model":"","decodeSecondsPerToken":0.01,"maxBatchSize":256,"confidence":0.5}],"tau":0.25,"deltaScore":0,"floorSeconds":1,"order":{"kind":"stjf","agingReleases":100},"place":{"kind":"least-load"},"approvedRanges":{"tau":{"min":0,"max":2},"deltaScore":{"min":0,"max":1}}},"lengths":"learnt","confidence":"learnt"},{"kind":"sjf"},{"kind":"mlfq","quantaSeconds":[1,2,4]},{"kind":"fixed","model":""}';
const MARK = "1";

/** A description in the form of an address. */
export const formatSpec = (spec: LabSpec): string => MARK + packText(JSON.stringify(spec), KNOWN);

/** The description in an address; null where there is none, or no valid one. */
export function parseSpec(text: string): LabSpec | null {
  const json = text.startsWith(MARK) ? unpackText(text.slice(MARK.length), KNOWN) : null;
  if (json === null) return null;
  try {
    const parsed = labSpecSchema.safeParse(JSON.parse(json));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}
