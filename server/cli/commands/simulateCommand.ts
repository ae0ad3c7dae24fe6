import type { Command } from "commander";
import { importArrivals } from "@/server/planning/imports/importArrivals";
import { importMeasuredSteps } from "@/server/planning/imports/importMeasuredSteps";
import { extrapolations } from "@/solver/calibration/extrapolations";
import { contextRefusal } from "@/solver/calibration/readServingRow";
import type { ArrivalLaw } from "@/solver/engine/arrivals";
import { findGpu, findModel, nearestNames } from "@/solver/hardware/aliases";
import { engineProfiles } from "@/solver/hardware/builtInProfiles";
import { withLimits } from "@/solver/hardware/engineLimits";
import { atPrecision, bytesPerWeight, type Precision } from "@/solver/hardware/modelCard";
import { replicaModel } from "@/solver/hardware/replicaShapes";
import { describeForecast, forecast, type Load } from "../describe/replicaForecast";
import { type LimitFlags, readLimits, withLimitFlags } from "../flags/engineLimitFlags";
import { EXIT, type ExitCode, refuse } from "../flags/exitCodes";
import { numberFlag } from "../flags/flagValues";
import { PROFILE_FLAG, readProfile, withProfileCards } from "../flags/profileFlag";
import { CARDS_FLAG, readCards, readFile } from "../flags/workloadFlags";
import { simulateRows } from "./simulateRows";

interface SimulateFlags extends LimitFlags {
  readonly rows?: string;
  readonly model?: string;
  readonly gpu?: string;
  readonly tp: number;
  readonly pp: number;
  readonly precision?: Precision;
  readonly input?: number;
  readonly output?: number;
  readonly rate?: number;
  readonly burstiness?: number;
  readonly arrivals?: string;
  readonly concurrency?: number;
  readonly requests: number;
  readonly prefixHitRate: number;
  readonly seed: number;
  readonly profile?: string;
  readonly stepTimes?: string;
  readonly cards?: string;
  readonly json?: boolean;
}

const HELP = `
With --rows every run of a table is predicted as the closed loop it was, and compared with what it measured where it says so.
A row that cannot be read is named with line and field, and the others are answered; the exit code is 2 only when none could be
read. Runs that no model covers are listed with the reason and not guessed. --profile is for runs of its own engine; runs of
the others take their built-in profiles.

Without --rows one replica serves requests that all have --input and --output tokens: in an open loop at --rate (Poisson, Gamma
with --burstiness, or a trace with --arrivals, scaled to the rate), or in a closed loop with --concurrency. Exit code 3: it does
not fit.`;

const tokens = numberFlag({ min: 1, max: 10_000_000, whole: true });

/** `weir simulate`: predicts measured runs, or the behaviour of one replica under a load. */
export function addSimulateCommand(program: Command, onExit: (code: ExitCode) => void): void {
  withLimitFlags(program.command("simulate"))
    .description("predict runs of a table (--rows), or latency and throughput of one replica under a load")
    .option("--rows <file>", "CSV of runs: model, gpu, engine, tp, isl, osl, concurrency, precision, and ttft_ms, tpot_ms where measured")
    .option("--model <card>", "model, such as llama-3.1-8b")
    .option("--gpu <card>", "GPU type, such as h100-sxm")
    .option("--tp <n>", "tensor parallelism", numberFlag({ min: 1, max: 64, whole: true }), 1)
    .option("--pp <n>", "pipeline parallelism", numberFlag({ min: 1, max: 64, whole: true }), 1)
    .option("--precision <word>", "of the weights: bf16, fp8 or int4 (default: the card's)")
    .option("--input <tokens>", "prompt tokens of each request", tokens)
    .option("--output <tokens>", "tokens each request generates", tokens)
    .option("--rate <rps>", "requests per second of an open loop", numberFlag({ min: 0.0001, max: 1e6 }))
    .option("--burstiness <cv>", "coefficient of variation of the gaps: 1 is Poisson", numberFlag({ min: 0.01, max: 100 }))
    .option("--arrivals <file>", "CSV of arrivals with a column TIMESTAMP, replayed at the rate")
    .option("--concurrency <n>", "requests in flight of a closed loop", numberFlag({ min: 1, max: 100_000, whole: true }))
    .option("--requests <n>", "requests to simulate", numberFlag({ min: 1, max: 1_000_000, whole: true }), 5000)
    .option("--prefix-hit-rate <share>", "share of each prompt found in the prefix cache", numberFlag({ min: 0, max: 1 }), 0)
    .option("--seed <n>", "seeds every draw", numberFlag({ min: 0, max: 2 ** 31 - 1, whole: true }), 1)
    .option(...PROFILE_FLAG)
    .option("--step-times <file>", "CSV of measured engine steps, in place of the profile: prefill_tokens, sequences, kv_tokens, seconds")
    .option(...CARDS_FLAG)
    .option("--json", "print JSON")
    .addHelpText("after", HELP)
    .action(async (flags: SimulateFlags) => onExit(await simulate(flags)));
}

async function simulate(flags: SimulateFlags): Promise<ExitCode> {
  const given = readProfile(flags.profile);
  const { catalogue } = withProfileCards(readCards(flags), given);
  const limits = readLimits(flags);
  if (flags.rows !== undefined) {
    return simulateRows({ file: flags.rows, profile: given, cards: catalogue, limits, json: flags.json === true });
  }

  const { model: modelId, gpu: gpuId, input, output, tp, pp, precision } = flags;
  if (modelId === undefined || gpuId === undefined || input === undefined || output === undefined)
    return refuse("Give --rows, or --model, --gpu, --input, --output and one of --rate and --concurrency.");
  const { models, gpus } = catalogue;
  const named = findModel(modelId, models);
  if (named === undefined) return refuse(noCard("model", modelId, Object.keys(models)));
  const gpu = findGpu(gpuId, gpus);
  if (gpu === undefined) return refuse(noCard("gpu", gpuId, Object.keys(gpus)));
  if (precision !== undefined && !Object.hasOwn(bytesPerWeight, precision))
    return refuse(`--precision: "${precision}" is not one of ${Object.keys(bytesPerWeight).join(", ")}.`);
  const load = await loadOf(flags);

  const profile = given ?? engineProfiles.vllm;
  const tooLong = contextRefusal(named.card, input, output);
  if (tooLong !== null) return refuse(`${tooLong}.`, EXIT.infeasible);
  const model = atPrecision(named.card, precision ?? named.precision);
  const fit = replicaModel(model, gpu, { tp, pp }, profile);
  if (!fit.fits) return refuse(`${fit.reason}.`, EXIT.infeasible);
  const steps = flags.stepTimes === undefined ? null : await readFile(flags.stepTimes, importMeasuredSteps);
  const replica = withLimits(steps === null ? fit.replica : { ...fit.replica, stepTime: steps.stepTime }, limits);
  const kvPrecision = model.kvBytesPerValue === 1 ? "fp8" : "bf16";
  const { engine } = profile;
  const lengths = { inputTokens: input, outputTokens: output };
  const run = { engine, model: model.id, gpu: gpu.id, precision: model.precision, kvPrecision, shape: { tp, pp }, ...lengths } as const;
  const answer = forecast({
    replica,
    load,
    requests: flags.requests,
    ...lengths,
    prefixHitRate: flags.prefixHitRate,
    seed: flags.seed,
    errors: steps === null ? profile.errors : null,
    extrapolatedAt: (concurrency) => (steps === null ? extrapolations({ ...run, concurrency }, profile, catalogue) : []),
  });
  if (flags.json === true) {
    const asked = { model: model.id, precision: model.precision, gpu: gpu.id, tp, pp, profile: profile.id, ...lengths };
    process.stdout.write(`${JSON.stringify({ ...asked, ...answer }, null, 2)}\n`);
    return EXIT.done;
  }
  const { provenance } = replica.stepTime;
  const sources = [...new Set(provenance.map(({ kind, source }) => `  - ${kind}: ${source}\n`))];
  process.stdout.write(
    [
      `${model.id} in ${model.precision} on ${gpu.id}, tp ${tp}, pp ${pp}, by ${steps === null ? `the profile "${profile.name}"` : "measured steps"}\n`,
      `${loadWords(load)}, ${input} tokens in and ${output} out each\n\n`,
      describeForecast(answer),
      ...sources,
      ...(steps?.notes ?? []).map((note) => `  - steps: ${note}\n`),
    ].join(""),
  );
  return EXIT.done;
}

const noCard = (flag: "model" | "gpu", name: string, ids: readonly string[]): string =>
  `--${flag}: there is no ${flag === "gpu" ? "GPU" : "model"} card "${name}"${nearestNames(name, ids) || "; the Cards page of the studio lists them"}.`;

async function loadOf({ rate, concurrency, burstiness, arrivals: file }: SimulateFlags): Promise<Load> {
  if ((rate === undefined) === (concurrency === undefined)) refuse("Give one of --rate and --concurrency.");
  if (concurrency !== undefined) {
    if (burstiness !== undefined || file !== undefined)
      refuse("--burstiness and --arrivals go with --rate: a closed loop sends when it is answered.");
    return { kind: "closed", concurrency };
  }
  if (burstiness !== undefined && file !== undefined) refuse("Give one of --burstiness and --arrivals.");
  const requestsPerSecond = rate ?? 0;
  if (file === undefined) {
    const law: ArrivalLaw = burstiness === undefined ? { kind: "poisson" } : { kind: "gamma", burstiness };
    return { kind: "open", requestsPerSecond, law };
  }
  const { arrivalSeconds } = await readFile(file, importArrivals);
  return { kind: "open", requestsPerSecond, law: { kind: "trace", arrivalSeconds } };
}

const LAWS = { poisson: "Poisson arrivals", gamma: "Gamma arrivals", trace: "arrivals of the trace" } as const;

const loadWords = (load: Load): string =>
  load.kind === "closed"
    ? `closed loop, ${load.concurrency} in flight`
    : `open loop, ${load.requestsPerSecond} requests/s, ${LAWS[load.law.kind]}`;
