import { formatCount, formatCounted, formatRate } from "@/components/ui/format";
import type { LiveFrame } from "@/server/contracts/studio";
import { engineFindings, failingOf } from "./engineFindings";
import { type Finding, heldSince, linesOf, type Problem } from "./findings";
import { gateFindings } from "./gateFindings";

/**
 * Requests that may wait for one model before the gateway sheds more; the gateway does not report its bound (`queuedPerModel` of its
 * limits).
 */
const MOST_QUEUED = 2000;
/** From this share of the bound on, a burst of seconds fills the rest. */
const NEARLY_FULL = 0.8;

/** After the studio starts, engines are found within a few rounds. */
const UNSERVED_MS = 5_000;

/** Share of failed requests from which it is reported: users notice one in a hundred. */
const BAD_ERROR_SHARE = 0.01;

/**
 * Problems that need an operator, according to the newest frame, worst first; empty when all is well. Earlier frames show since when. An
 * engine that loads or drains is not a problem, and neither is what passes by itself within seconds.
 */
export function prepareAttention(frames: readonly LiveFrame[]): readonly Problem[] {
  const frame = frames.at(-1);
  if (frame === undefined) return [];
  return linesOf(
    [
      ...gatewayFindings(frame),
      ...panicFindings(frame),
      ...judgeFindings(frame, frames),
      ...stageFindings(frame, frames),
      ...gateFindings(frame),
      ...rateFindings(frame, frames),
      ...engineFindings(frames),
      ...gpuFindings(frame),
    ],
    frame.atMs,
  );
}

const none = { nextTryAtMs: null, reason: "" } as const;

function gatewayFindings({ gateway }: LiveFrame): readonly Finding[] {
  const { state, reason, sinceMs } = gateway;
  const about = { ...none, kind: "gateway", subject: "gateway", reason };
  if (state === "fresh") {
    if (reason === "") return [];
    const action = "Request figures cover the other gateways only.";
    return [{ ...about, cause: "gateway missed", tone: "warn", word: "records missed", when: null, action }];
  }
  const when = { is: "since", atMs: sinceMs } as const;
  return state === "unreachable"
    ? [
        {
          ...about,
          cause: "gateway unreachable",
          tone: "bad",
          word: "not answering",
          when,
          action: "It is unknown whether requests are answered: check that its process runs.",
        },
      ]
    : [{ ...about, cause: "gateway stale", tone: "warn", word: "late", when, action: "Its figures are the last ones it reported." }];
}

function panicFindings({ gateway }: LiveFrame): readonly Finding[] {
  const panic = gateway.routing?.controls?.panic ?? null;
  if (panic === null) return [];
  return [
    {
      ...none,
      cause: "panic",
      kind: "gateway",
      subject: panic.model,
      tone: "bad",
      word: "panic",
      when: { is: "since", atMs: panic.sinceMs },
      reason: `${panic.reason === "" ? `${panic.by} gave no reason` : `${panic.by}: ${panic.reason}`}${panic.warning === undefined ? "" : `. ${panic.warning}`}`,
      action: "It answers every request, and the plan's predictions do not apply. Clear the panic once the cause is fixed.",
    },
  ];
}

/** Reports that answers get no scores, from the time the judge's circuit opens. */
function judgeFindings({ gateway }: LiveFrame, frames: readonly LiveFrame[]): readonly Finding[] {
  const isDown = ({ gateway: { judge } }: LiveFrame): boolean | null =>
    judge === null ? null : judge.state === "circuit-open" || judge.state === "unavailable";
  const when = heldSince(frames, isDown);
  if (when === null || gateway.judge === null) return [];
  const { model, reason, state } = gateway.judge;
  return [
    {
      ...{ ...none, cause: "judge down", kind: "judge", subject: model, tone: "bad", when, reason },
      word: state === "unavailable" ? "cannot be called" : "not called",
      action:
        "Answers are accepted or escalated without a score, as the plan sets. Check that the judge runs, then measure it on the cluster's page.",
    },
  ];
}

/**
 * Whether requests for a model cannot be served and engines that load or drain will not fix it. No engines at all count as a problem where
 * there were some, or requests wait and none is in flight: the gateway may have engines that are not watched.
 */
function isUnserved({ engines, gateway }: LiveFrame, model: string, wereSome: boolean): boolean {
  const healths = engines.filter((engine) => engine.model === model).map(({ health }) => health);
  if (healths.length > 0) return healths.includes("unhealthy") && !healths.includes("serving");
  const { queued = null, inFlight = null } = gateway.stages.find((stage) => stage.model === model) ?? {};
  return (inFlight ?? 0) === 0 && (wereSome || (queued ?? 0) > 0);
}

function stageFindings(frame: LiveFrame, frames: readonly LiveFrame[]): readonly Finding[] {
  const { gateway, engines } = frame;
  if (gateway.state === "unreachable") return [];
  const lostStages = gateway.stages.length > 1 ? (gateway.routing?.lostStages ?? []) : [];
  return [
    ...lostStageFindings(frame, lostStages),
    ...gateway.stages.flatMap(({ model, queued }): readonly Finding[] => {
      const wereSome = frames.some((then) => then.engines.some((engine) => engine.model === model));
      const when = heldSince(frames, (then) => (then.gateway.state === "unreachable" ? null : isUnserved(then, model, wereSome)));
      if (when === null || frame.atMs - when.atMs < UNSERVED_MS) return [];
      // The gateway reports itself where requests continue at other stages.
      if (lostStages.some((stage) => stage.model === model)) return [];
      const there = engines.filter((engine) => engine.model === model).length;
      return [
        {
          ...none,
          cause: "model without engines",
          kind: "model",
          subject: model,
          tone: "bad",
          word: "no engine takes work",
          when,
          reason: `${there === 0 ? "It has no engine" : `${formatCounted(there, "engine")}, none healthy`}${queued ? `; ${formatCount(queued)} wait` : ""}`,
          action:
            "Requests that need it wait or fail. Bring an engine of it back, apply a plan without it, or send everything to another model (panic).",
        },
      ];
    }),
    ...gateway.stages.flatMap(({ model, queued }) =>
      fullFindings(queued, {
        ...{ cause: "queue nearly full", kind: "model", subject: model },
        action: "When it is full, new requests are refused. Lower the thresholds before it, or apply a plan for the current traffic.",
      }),
    ),
    ...fullFindings(gateway.queuedForAny, {
      ...{ cause: "line nearly full", kind: "gateway", subject: "requests for any model" },
      action: "When it is full, new requests for just-in-time routing are refused. Apply a plan for the current traffic.",
    }),
  ];
}

/** Stages of a cascade that are skipped because none of their engines accepts requests. */
function lostStageFindings(
  { gateway }: LiveFrame,
  lost: readonly { readonly model: string; readonly sinceMs: number }[],
): readonly Finding[] {
  const left = gateway.stages.map(({ model }) => model).filter((model) => lost.every((stage) => stage.model !== model));
  const action =
    left.length === 0
      ? "No stage is left: every request is answered 503. Bring engines back, or send everything to another model (panic)."
      : `Requests are answered by ${left.join(", ")}. Bring an engine of it back, or apply a plan without it.`;
  return lost.map(({ model, sinceMs }) => ({
    ...none,
    ...{ cause: `lost stage ${left.length === 0}`, kind: "stage", subject: model, tone: "bad", word: "stage skipped" },
    when: { is: "since", atMs: sinceMs },
    reason: "no engine takes work",
    action,
  }));
}

/** Reports that the queue is close to the gateway's bound. */
function fullFindings(queued: number | null, about: Pick<Finding, "cause" | "kind" | "subject" | "action">): readonly Finding[] {
  if (queued === null || queued < NEARLY_FULL * MOST_QUEUED) return [];
  const reason = `${formatCount(queued)} wait and the gateway holds ${formatCount(MOST_QUEUED)}`;
  return [{ ...none, ...about, tone: "bad", word: "queue nearly full", when: null, reason }];
}

/** Failed or refused requests, by rates of the last seconds. */
function rateFindings({ gateway }: LiveFrame, frames: readonly LiveFrame[]): readonly Finding[] {
  const [failed, answered] = [gateway.errorsPerSecond ?? 0, gateway.requestsPerSecond ?? 0];
  const rates = [
    {
      rate: "errorsPerSecond",
      subject: "requests",
      tone: failed >= BAD_ERROR_SHARE * (answered + failed) ? "bad" : "warn",
      word: "failed",
      action: "They timed out or the connection broke. Filter the decisions below by failed to see which and why.",
    },
    {
      rate: "refusedPerSecond",
      subject: "requests",
      tone: "bad",
      word: "refused",
      action:
        "They have no valid key, name a model that is not served, or are malformed or too large. Each refusal tells its client the reason; /v1/models lists the served models.",
    },
    {
      rate: "shedPerSecond",
      subject: "requests",
      tone: "bad",
      word: "shed",
      action:
        "There was no capacity or no engine for them. Check which engines take work; a plan for the current traffic has the capacity.",
    },
    {
      rate: "unjudgedPerSecond",
      subject: "answers",
      tone: "warn",
      word: "accepted without a score",
      action:
        "The quality floor does not cover them. Check that the judge answers and that engines report what gates read; filter the decisions below by unjudged to see why it did not.",
    },
  ] as const;
  return rates.flatMap(({ rate, subject, tone, word, action }): readonly Finding[] => {
    const when = heldSince(frames, (frame) => {
      const perSecond = frame.gateway[rate];
      return perSecond === null ? null : perSecond > 0;
    });
    if (when === null) return [];
    return [{ ...none, cause: rate, kind: subject, subject, tone, word, when, reason: formatRate(gateway[rate]), action }];
  });
}

function gpuFindings({ gpuSources }: LiveFrame): readonly Finding[] {
  return gpuSources.flatMap((source): readonly Finding[] => {
    const failing = source.state === "fresh" ? null : failingOf(source);
    if (failing === null) return [];
    return [
      {
        cause: `gpus ${source.name}`,
        kind: "GPU source",
        subject: gpuSources.length === 1 ? source.kind : source.name,
        tone: "warn",
        word: failing.word,
        when: failing.when,
        nextTryAtMs: failing.nextTryAtMs,
        reason: source.reason,
        action: "GPU metrics are missing; requests and engines are not affected.",
      },
    ];
  });
}
