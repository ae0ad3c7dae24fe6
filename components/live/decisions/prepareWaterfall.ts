import { formatSeconds } from "@/components/ui/format";
import type { Decision, Stage } from "./prepareDecision";

/** A part of a request's time, as shares 0..1 of the whole. */
export interface WaterfallPart {
  readonly kind: "queue" | "engine" | "failed" | "judge";
  readonly from: number;
  readonly share: number;
  readonly text: string;
}

/** Attempts in the order they were made, failed ones too. */
interface WaterfallRow {
  readonly model: string;
  readonly parts: readonly WaterfallPart[];
}

export interface Waterfall {
  readonly totalSeconds: number;
  readonly rows: readonly WaterfallRow[];
  /** When the first token was sent to the client; null where there was none. */
  readonly firstToken: number | null;
}

/** When the parts of an attempt begin and end, in seconds since the first attempt was queued. */
interface Times {
  readonly queued: number;
  readonly dispatched: number;
  readonly answered: number;
  readonly judged: number;
}

/**
 * Where the time of a request went, drawn to scale. Time that no attempt covers is the gateway's own. Records of older gateways do not say
 * when anything began: then attempts follow one another without gaps.
 */
export function prepareWaterfall({
  stages,
  endToEndSeconds,
  ttftSeconds,
}: Pick<Decision, "stages" | "endToEndSeconds" | "ttftSeconds">): Waterfall {
  const times = timesOf(stages);
  const totalSeconds = Math.max(endToEndSeconds, ...times.map(({ judged }) => judged));
  const part = (kind: WaterfallPart["kind"], fromSeconds: number, toSeconds: number, name: string): readonly WaterfallPart[] =>
    toSeconds <= fromSeconds || totalSeconds <= 0
      ? []
      : [
          {
            kind,
            from: fromSeconds / totalSeconds,
            share: (toSeconds - fromSeconds) / totalSeconds,
            text: `${name} ${formatSeconds(toSeconds - fromSeconds)}`,
          },
        ];
  return {
    totalSeconds,
    rows: stages.map(({ model, verdict, gate }, at) => {
      const { queued = 0, dispatched = 0, answered = 0, judged = 0 } = times[at] ?? {};
      const failed = verdict === "failed";
      return {
        model,
        parts: [
          ...part("queue", queued, dispatched, "queue"),
          ...part(failed ? "failed" : "engine", dispatched, answered, failed ? "failed after" : "engine"),
          ...part("judge", answered, judged, gate === undefined || gate.kind === "judge" ? "judge" : "gate"),
        ],
      };
    }),
    firstToken: ttftSeconds === null || totalSeconds <= 0 ? null : Math.min(1, ttftSeconds / totalSeconds),
  };
}

function timesOf(stages: readonly Stage[]): readonly Times[] {
  const startSeconds = stages[0]?.at?.queued;
  const told = stages.every(({ at }) => at !== undefined);
  let end = 0;
  return stages.map(({ at, queueSeconds, seconds, judgeSeconds, gate }) => {
    const inOrder = { queued: end, dispatched: end + queueSeconds, answered: end + queueSeconds + seconds };
    const { queued, dispatched, answered } =
      told && at !== undefined && startSeconds !== undefined
        ? { queued: at.queued - startSeconds, dispatched: at.dispatched - startSeconds, answered: at.answered - startSeconds }
        : inOrder;
    end = answered + (gate?.seconds ?? judgeSeconds ?? 0);
    return { queued, dispatched, answered, judged: end };
  });
}
