import type { EngineAccess } from "@/server/contracts/engine/engineAccess";
import type { EngineAccessError } from "@/server/contracts/engine/engineAccessError";
import type { Finding } from "@/server/contracts/studio/attachedCluster";
import type { JudgeFault } from "@/server/contracts/studio/judges";
import { failed, ok } from "@/server/engineClient/finding";
import { unreached, unsent } from "@/server/engineClient/unreached";
import type { JudgeTimes } from "@/solver/judging/judgeTime";

/** A judge that can be called. */
export interface JudgeTarget extends EngineAccess {
  readonly model: string;
  /** Root of its API, without `/v1`. */
  readonly url: string;
}

/** Why a call brought no score; `error`: why it was not sent. */
export interface CallFault {
  readonly fault: JudgeFault;
  readonly detail: string;
  readonly error?: EngineAccessError;
}

type Failed = { readonly kind: "refused" } | ({ readonly kind: "fault" } & CallFault);

const ms = (seconds: number): string => `${(seconds * 1000).toFixed(0)} ms`;

export function measuredFinding({ model }: JudgeTarget, { calls, meanSeconds, p50Seconds, p95Seconds }: JudgeTimes): Finding {
  const spread = calls < 2 ? "" : `, p50 ${ms(p50Seconds)}, p95 ${ms(p95Seconds)}`;
  return ok("judge", `${model} gives scores: ${ms(meanSeconds)} a call on average of ${calls}${spread}.`);
}

/** Why a judge gave no score, and what to do. Its text is not repeated: it may contain the key. */
export function judgeFaultFinding({ model, url, key }: JudgeTarget, call: Failed, limitMs: number): Finding {
  const { host } = new URL(url);
  if (call.kind === "refused")
    return failed(
      "judge",
      `${model} refuses a short prompt.`,
      "Check that this is the name of a chat model there, and look into the judge's log.",
    );
  const { fault, detail, error } = call;
  if (error !== undefined && error.kind !== "missing") return { ...unsent(error), what: "judge" };
  switch (fault) {
    case "no-key":
      return failed(
        "judge",
        detail,
        "Set it where studio and gateway start. It is used by the gateway; without it here the judge is measured in traffic only.",
      );
    case "unreachable": {
      const { sentence, next } = unreached(url, detail);
      return failed("judge", sentence, next ?? "Check the judge's address.");
    }
    case "timed-out":
      return failed(
        "judge",
        `${model} at ${host} gives no score within ${limitMs / 1000} s.`,
        "Check that the judge is not stuck or overloaded, then test it again.",
      );
    case "key-refused":
      return key === undefined
        ? failed(
            "judge",
            `${host} wants an API key (${detail}).`,
            "Put the key into a variable that begins with WEIR_JUDGE_ where studio and gateway start, and name that.",
          )
        : failed(
            "judge",
            `${host} refuses the key (${detail}).`,
            "Check that the variable holds this judge's key, without quotes around it.",
          );
    case "not-found":
      return failed(
        "judge",
        `${host} has no model ${model}, or no chat completions (404).`,
        "Check the model's name as the judge calls it, and the address.",
      );
    case "failed":
      return failed("judge", `${host} answers a judgement with the status ${detail}.`, "Look into the judge's log.");
    case "no-score":
      return failed(
        "judge",
        `${model} answers without a single number from 0 to 100.`,
        "Name a model that follows such an instruction within 8 tokens, or attach a judge that serves scores.",
      );
  }
}
