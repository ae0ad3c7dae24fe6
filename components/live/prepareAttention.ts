import type { EngineFrame, LiveFrame } from "@/server/contracts/studio";
import type { Tone } from "../ui/Badge";
import { formatRate } from "../ui/format";

/** One thing that is wrong, and what to do next. */
export interface Problem {
  readonly subject: string;
  readonly word: string;
  readonly tone: Tone;
  readonly text: string;
}

/** What of the newest frame needs an operator, worst first; empty when all is well. An engine that loads or drains is no problem. */
export function prepareAttention(frames: readonly LiveFrame[]): readonly Problem[] {
  const frame = frames.at(-1);
  return frame === undefined ? [] : [...gatewayProblems(frame.gateway), ...frame.engines.flatMap(engineProblems)];
}

function gatewayProblems({ state, reason, refusedPerSecond, unjudgedPerSecond }: LiveFrame["gateway"]): readonly Problem[] {
  const problems: Problem[] = [];
  if (state === "unreachable") {
    const text = `${reason}. Whether requests are answered is not known here: see that its process runs.`;
    problems.push({ subject: "gateway", word: "not answering", tone: "bad", text });
  } else if (state === "stale") {
    problems.push({ subject: "gateway", word: "late", tone: "warn", text: `${reason}. Its figures are the last ones it gave.` });
  }
  if (refusedPerSecond !== null && refusedPerSecond > 0) {
    const text =
      "They name a model that is not served, are malformed or too large, or meet a full queue. Each refusal tells its client which; /v1/models lists what is served.";
    problems.push({ subject: "requests", word: `${formatRate(refusedPerSecond)} refused`, tone: "bad", text });
  }
  if (unjudgedPerSecond !== null && unjudgedPerSecond > 0) {
    const text = "The quality floor does not cover them. See that the judge answers; the decisions below say why it did not.";
    problems.push({ subject: "answers", word: `${formatRate(unjudgedPerSecond)} accepted without a judge`, tone: "warn", text });
  }
  return problems;
}

function engineProblems({ id, health, state, reason }: EngineFrame): readonly Problem[] {
  if (health === "unhealthy") {
    const text = "Calls to it failed, so the gateway passes it by and tries again now and then. Read its log; a rollback starts others.";
    return [{ subject: id, word: "unhealthy", tone: "bad", text: state === "fresh" ? text : `${reason}. ${text}` }];
  }
  // Telemetry of one that loads or was withdrawn is not missed.
  if (state === "fresh" || health !== "serving") return [];
  return [
    {
      subject: id,
      word: `telemetry ${state}`,
      tone: "warn",
      text: `${reason}. The gateway still sends to it; only its figures are missing.`,
    },
  ];
}
