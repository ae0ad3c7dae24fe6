import { readFileSync, writeFileSync } from "node:fs";
import type { Command } from "commander";
import { addressOf } from "@/server/engineClient/address";
import { reasonOf } from "@/server/lib/reasonOf";
import { inspectEngine } from "@/server/measuring/inspectEngine";
import { catalogueWith, measuredCards } from "@/server/measuring/measuredCards";
import { announce, type Measured, measureEngine, usualConcurrency } from "@/server/measuring/measureEngine";
import { fitMeasured } from "@/solver/calibration/fitMeasured";
import { measuredTable } from "@/solver/calibration/measuredRun";
import { measuringBounds } from "@/solver/calibration/nextRun";
import { cardOf } from "@/solver/hardware/catalogue";
import { isMeasured, MOST_PROFILE_NAME } from "@/solver/hardware/engineProfile";
import { joinMeasured, type MeasuredProfile, measuredProfile } from "@/solver/hardware/measuredProfile";
import { profileText, readProfileText } from "@/solver/hardware/readProfileText";
import { describeAnnouncement, describeEvent, describeMeasured } from "../describe/describeMeasured";
import { EXIT, type ExitCode, must, refuse } from "../flags/exitCodes";
import { numberFlag } from "../flags/flagValues";
import { CARDS_FLAG, readCards } from "../flags/workloadFlags";

interface MeasureFlags {
  readonly endpoint: string;
  readonly model?: string;
  readonly gpu?: string;
  readonly tp: number;
  readonly pp: number;
  readonly minutes: number;
  readonly tokens: number;
  readonly concurrency?: number;
  readonly servingOthers?: boolean;
  readonly key?: string;
  readonly name?: string;
  readonly out?: string;
  readonly add?: string;
  readonly rows?: string;
  readonly cards?: string;
  readonly json?: boolean;
}

const HELP = `
The profile holds for this engine software with this model on this card in this shape only: plans with it choose among the engines that were
measured. With --add the engines of another profile of that form are kept in it, so that a plan can use several models.
Nothing is sent to an engine whose metrics show requests of others, or that has no metrics, unless --serving-others is given.
Ctrl-C ends the load; what was measured by then is fitted and written.
Exit codes: 0 done, 1 failed or too little was measured, 2 bad input, 3 the engine serves others, or does not show whether it does.`;

/** `weir measure`: a profile of an engine from load that this command sends to it. */
export function addMeasureCommand(program: Command, onExit: (code: ExitCode) => void): void {
  const { tp, pp, minutes, tokens, concurrency } = measuringBounds;
  program
    .command("measure")
    .description("measure an engine of any kind on any hardware, and make the profile that plans use")
    .requiredOption("--endpoint <url>", "root of the engine's OpenAI-compatible API")
    .option("--model <name>", "model, as the engine calls it (default: the only one that it serves)")
    .option("--gpu <card>", "GPU card that the engine runs on (default: cpu-core, one processor core of this host)")
    .option("--tp <n>", "tensor parallelism of the engine", numberFlag(tp), tp.usual)
    .option("--pp <n>", "pipeline stages of the engine", numberFlag(pp), pp.usual)
    .option("--minutes <m>", "most minutes of load", numberFlag(minutes), minutes.usual)
    .option("--tokens <n>", "most tokens of prompts and answers together", numberFlag(tokens), tokens.usual)
    .option("--concurrency <n>", "most requests in flight (default: 64, or twice what the engine runs at once)", numberFlag(concurrency))
    .option("--serving-others", "measure although the engine serves others meanwhile")
    .option("--key <variable>", "environment variable with the engine's API key; its name begins with WEIR_ENGINE_")
    .option("--name <name>", "name of the profile (default: engine and model)")
    .option("--out <file>", "write the profile here, for --profile of plan, frontier and simulate")
    .option("--add <file>", "keep the engines of this measured profile in the new one")
    .option("--rows <file>", "write the runs here as CSV, for --rows of calibrate and simulate")
    .option(...CARDS_FLAG)
    .option("--json", "print JSON: the profile and the runs")
    .addHelpText("after", HELP)
    .action(async (flags: MeasureFlags) => onExit(await measure(flags)));
}

async function measure(flags: MeasureFlags): Promise<ExitCode> {
  const address = addressOf(flags.endpoint);
  if (!address.ok) return refuse(`--endpoint: ${address.fault}.`);
  if (flags.name !== undefined && (flags.name.trim() === "" || flags.name.length > MOST_PROFILE_NAME))
    return refuse(`--name: give a name of 1 to ${MOST_PROFILE_NAME} characters.`);
  if (flags.key !== undefined && !/^WEIR_ENGINE_[A-Z0-9_]{1,80}$/.test(flags.key))
    return refuse("--key: give the name of a variable that begins with WEIR_ENGINE_, never the key itself.");
  const kept = flags.add === undefined ? null : readMeasured(flags.add);
  const target = { url: address.url, ...(flags.key === undefined ? {} : { key: { environment: flags.key } }) };
  const { userCards, catalogue } = readCards(flags);
  const found = await inspectEngine(target, flags.model);
  if (found.kind === "refused") return refuse(found.message, EXIT.failed);
  const { inspected } = found;
  const filed = must(await measuredCards(inspected, { url: target.url, gpu: flags.gpu }, { userCards, catalogue }));
  const say = (text: string): void => void process.stderr.write(text);
  const request = {
    ...{ target, inspected, model: filed.model, gpu: filed.gpu, shape: { tp: flags.tp, pp: flags.pp } },
    budget: { seconds: 60 * flags.minutes, tokens: flags.tokens },
    mostConcurrency: flags.concurrency ?? usualConcurrency(inspected),
    servingOthers: flags.servingOthers === true,
  };
  say(describeAnnouncement(request, announce(request)));

  const stop = new AbortController();
  process.once("SIGINT", () => stop.abort());
  const measured = await measureEngine(request, { signal: stop.signal, fit: fitMeasured, onEvent: (event) => say(describeEvent(event)) });
  const card = cardOf(catalogueWith(userCards, filed).models, filed.model);
  if (flags.rows !== undefined && measured.runs.length > 0) {
    const { limits } = measured.kind === "measured" ? measured.fit.engine : { limits: null };
    const head = {
      ...{ engine: inspected.engine, model: filed.model, gpu: filed.gpu, tp: flags.tp, pp: flags.pp, weights: card?.precision ?? "" },
      maxSequences: limits?.maxSequences.value ?? null,
      maxBatchedTokens: limits?.maxBatchedTokens.value ?? null,
    };
    write("--rows", flags.rows, measuredTable(measured.runs, head));
  }
  if (measured.kind === "refused") {
    const mayServeOthers = measured.reason === "serves-others" || measured.reason === "unknown-load";
    return refuse(measured.message, mayServeOthers ? EXIT.infeasible : EXIT.failed);
  }
  const profile = profileOf(measured, { flags, engine: inspected.engine, cards: filed.cards, kept });
  if (flags.out !== undefined) write("--out", flags.out, profileText(profile));
  process.stdout.write(
    flags.json === true
      ? `${JSON.stringify({ profile, runs: measured.runs, used: measured.used, stopped: measured.stopped }, null, 2)}\n`
      : describeMeasured(measured, { profile, file: flags.out ?? null }),
  );
  return EXIT.done;
}

function profileOf(
  { fit }: Extract<Measured, { kind: "measured" }>,
  { flags, engine, cards, kept }: { flags: MeasureFlags; engine: string; cards: MeasuredProfile["cards"]; kept: MeasuredProfile | null },
): MeasuredProfile {
  const { model, gpu, measuredOn } = fit.engine;
  const name = flags.name ?? `${model} on ${gpu}, measured ${measuredOn.asOf}`.slice(0, MOST_PROFILE_NAME);
  const id = `measured-${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}`.slice(0, 80);
  const own = measuredProfile({ id, name, engine, cards }, [fit.engine]);
  return kept === null ? own : joinMeasured([kept, own]);
}

function readMeasured(path: string): MeasuredProfile {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (problem) {
    return refuse(`--add: ${path} cannot be read: ${reasonOf(problem)}.`);
  }
  const read = readProfileText(text, path);
  if (!read.ok) return refuse(`--add: ${read.message}`);
  return isMeasured(read.profile)
    ? read.profile
    : refuse(`--add: ${path} is no measured profile: give a file that weir measure --out wrote.`);
}

function write(flag: string, path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (problem) {
    refuse(`${flag}: ${path} cannot be written: ${reasonOf(problem)}.`, EXIT.failed);
  }
}
