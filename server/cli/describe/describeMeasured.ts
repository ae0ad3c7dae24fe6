import type { Announcement, Measured, MeasureEvent, MeasureRequest } from "@/server/measuring/measureEngine";
import type { RunPoint } from "@/solver/calibration/measuredRun";
import { engineTitle } from "@/solver/hardware/engineProfile";
import type { MeasuredEngine } from "@/solver/hardware/measuredEngine";
import type { MeasuredProfile } from "@/solver/hardware/measuredProfile";
import { quantile } from "@/solver/numeric/quantile";
import { shellWords } from "@/solver/wording/shellText";
import { textTable } from "./textTable";

const point = ({ inputTokens, outputTokens, concurrency }: RunPoint): string =>
  `${inputTokens} tokens in, ${outputTokens} out, ${concurrency} in flight`;

/** The load of a measurement, before any of it is sent. */
export function describeAnnouncement(
  { target, inspected, model, gpu, servingOthers }: Pick<MeasureRequest, "target" | "inspected" | "model" | "gpu" | "servingOthers">,
  { budget, mostConcurrency, contextTokens, showsOthers }: Announcement,
): string {
  const version = inspected.version === null ? "" : ` ${inspected.version}`;
  return [
    `${target.url}: ${inspected.engine}${version}, model ${inspected.served}, filed under the cards ${model} and ${gpu}.`,
    `It gets closed loops of 1 to ${mostConcurrency} requests in flight, of up to ${contextTokens} tokens each: at most ${budget.tokens} tokens in at most ${minutes(budget.seconds)}.`,
    servingOthers ? "Others may use it meanwhile: their load is part of the figures." : "It gets no load if it serves others.",
    ...(showsOthers ? [] : ["It has no metrics that show whether it serves others."]),
    "",
  ].join("\n");
}

/** A line on the progress of a measurement. */
export function describeEvent(event: MeasureEvent): string {
  switch (event.kind) {
    case "warming-up":
      return "Warming up.\n";
    case "running": {
      const { left, runs, next } = event;
      return `Run ${runs + 1} (${next.why}): ${point(next)}; ${minutes(left.seconds)} and ${left.tokens} tokens left.\n`;
    }
    case "ran":
      return `  ${event.run.requests} requests: TTFT ${ms(event.run.ttftSeconds)}, end to end ${ms(event.run.endToEndSeconds)}, p95 ${ms(event.run.p95Seconds)}.\n`;
    case "left-out":
      return `  left out: ${event.message}.\n`;
    case "fitting":
      return `Fitting ${event.runs} runs.\n`;
  }
}

/** The fitted profile, how far it is off, and how to plan with it. */
export function describeMeasured(
  { fit, runs, stopped, used }: Extract<Measured, { kind: "measured" }>,
  { profile, file }: { readonly profile: MeasuredProfile; readonly file: string | null },
): string {
  const { engine, trained, keptAside } = fit;
  const { noise, measuredOn } = engine;
  return [
    `"${profile.name}", measured form: ${measuredOn.source}, ${runs.length} runs of ${measuredOn.requests} requests, ${used.tokens} tokens in ${minutes(used.seconds)}${stopped ? ", stopped early" : ""}\n\n`,
    textTable([
      ["errors, median (mean)", "TTFT", "TPOT", "end to end", "p95"],
      ["runs it has seen", ...errorCells(trained)],
      ...(keptAside.length === 0 ? [] : [["runs kept aside by their lengths", ...errorCells(keptAside)]]),
      ...(noise === null
        ? []
        : [[`noise of ${noise.repeats} repeats`, ...[noise.ttft, noise.tpot, noise.endToEnd, noise.p95].map(percent)]]),
    ]),
    keptAside.length === 0 ? "  - All runs have the same lengths: nothing is said of the error at other lengths.\n" : "",
    `\n${textTable([["step", "seconds"], ...stepCells(engine)])}`,
    `\n${textTable([["limit", "value", "origin"], ...limitCells(engine)])}`,
    `\nIt holds for ${engine.model} on ${engine.gpu} with ${engineTitle(profile.engine)} at tp ${engine.shape.tp}, pp ${engine.shape.pp}, for ${span(measuredOn.inputTokens)} tokens in, ${span(measuredOn.outputTokens)} out and ${span(measuredOn.concurrency)} requests in flight; beyond that predictions are extrapolated.\n`,
    file === null
      ? "Give --out to plan with it.\n"
      : `Plan with it: weir plan ${shellWords(["--profile", file, "--gpu", engine.gpu, "--nodes", "1", "--gpus-per-node", String(engine.shape.tp * engine.shape.pp), "--usd-per-gpu-hour", "0", "--outcomes", "ANSWERS.csv", "--rate", "1", "--quality", "50"])}\n`,
  ].join("");
}

type Fitted = Extract<Measured, { kind: "measured" }>["fit"];

function errorCells(all: Fitted["trained"]): readonly string[] {
  const cell = (errors: readonly (number | null)[]): string => {
    const known = Float64Array.from(errors.flatMap((error) => (error === null ? [] : [Math.abs(error)])));
    if (known.length === 0) return "-";
    return `${percent(quantile(known, 0.5))} (${percent(known.reduce((sum, error) => sum + error, 0) / known.length)})`;
  };
  return [
    cell(all.map(({ errors }) => errors.ttft)),
    cell(all.map(({ errors }) => errors.tpot)),
    cell(all.map(({ errors }) => errors.endToEnd)),
    cell(all.map(({ p95 }) => p95)),
  ];
}

const stepCells = ({ step, request }: MeasuredEngine): readonly (readonly string[])[] => [
  ...step.decode.map(({ at, seconds }) => [`${at} decoding sequences`, ms(seconds)]),
  ...step.prefill.slice(1).map(({ at, seconds }) => [`with ${at} prompt tokens, further`, ms(seconds)]),
  ["for each prompt, further", ms(step.secondsPerPrompt)],
  ["for 1000 cached tokens, further", ms(1000 * step.secondsPerKvToken)],
  ["front end, a request", ms(request.seconds)],
  ["front end, 1000 tokens in", ms(1000 * request.secondsPerInputToken)],
  ["front end, 1000 tokens out", ms(1000 * request.secondsPerOutputToken)],
  ["delay of a request", ms(request.delaySeconds)],
];

const limitCells = ({ limits }: MeasuredEngine): readonly (readonly string[])[] => [
  ["cached tokens", String(limits.kvTokens.value), limits.kvTokens.origin],
  ["sequences at once", String(limits.maxSequences.value), limits.maxSequences.origin],
  ["tokens a step", String(limits.maxBatchedTokens.value), limits.maxBatchedTokens.origin],
  ["tokens of prompt and answer", String(limits.contextTokens.value), limits.contextTokens.origin],
];

const span = ({ least, most }: { readonly least: number; readonly most: number }): string =>
  least === most ? `${least}` : `${least} to ${most}`;
const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
const ms = (seconds: number): string => `${(1000 * seconds).toPrecision(3)} ms`;
const minutes = (seconds: number): string => `${(seconds / 60).toFixed(1)} minutes`;
