import { writeFileSync } from "node:fs";
import type { Command } from "commander";
import { reasonOf } from "@/server/lib/reasonOf";
import { importServingRows } from "@/server/planning/imports/importServingRows";
import { choiceError, choiceText, chooseFit } from "@/solver/calibration/chooseFit";
import { predictServing } from "@/solver/calibration/predictServing";
import { errorsByGroup } from "@/solver/calibration/servingErrors";
import type { ServingRow } from "@/solver/calibration/servingRow";
import { engineProfiles } from "@/solver/hardware/builtInProfiles";
import type { CardCatalogue } from "@/solver/hardware/catalogue";
import {
  type Coefficient,
  coefficientNames,
  type EngineKind,
  engineKinds,
  engineNames,
  hostCoefficients,
  type KernelProfile,
  MOST_PROFILE_NAME,
  type ProfileErrors,
  standardErrorWords,
} from "@/solver/hardware/engineProfile";
import { rowProblemTexts } from "@/solver/workload/rowProblems";
import { textTable } from "../describe/textTable";
import { type LimitFlags, readLimits, underLimits, withLimitFlags } from "../flags/engineLimitFlags";
import { EXIT, type ExitCode, refuse } from "../flags/exitCodes";
import { CARDS_FLAG, readCards, readFile } from "../flags/workloadFlags";
import { reportKernels } from "./kernelReport";
import { describeErrors } from "./simulateRows";

interface CalibrateFlags extends LimitFlags {
  readonly rows?: string;
  readonly kernels?: string;
  readonly efficiencies?: boolean;
  readonly tpotOnly?: boolean;
  readonly engine?: string;
  readonly name?: string;
  readonly out?: string;
  readonly cards?: string;
  readonly json?: boolean;
}

/** Most distinct problems in a refusal. */
const SAID_PROBLEMS = 5;

const HELP = `
Each engine in the table gets a profile of its own; --out needs one engine, so name it with --engine where the table has several.
Whether the kernels' efficiencies are fitted too is decided by the error on rows kept aside: every fifth of the models, GPUs, shapes and
lengths (of the requests in flight, where all rows have the same lengths) is predicted by a fit to the others, with efficiencies and
without, and the smaller error wins. Both are printed.
A row that cannot be read is named, and the fit goes on without it. What rows cannot tell is not fitted, with the reason, and
keeps the built-in value. Public measurements hold means only: no percentile is fitted or checked.
Exit codes: 0 done, 2 the table cannot be read, 3 no profile could be fitted.`;

/** `weir calibrate`: engine profiles from measured runs. */
export function addCalibrateCommand(program: Command, onExit: (code: ExitCode) => void): void {
  withLimitFlags(program.command("calibrate"))
    .description("fit engine profiles to measured runs, and say how far they are off on runs the fit had not seen")
    .option("--rows <file>", "CSV of runs, as for simulate, with ttft_ms and tpot_ms")
    .option("--kernels <folder>", "instead of --rows: operator tables to fit kernel coefficients to, which are printed")
    .option(
      "--efficiencies",
      "fit factors on the kernels' efficiencies too, beside host and link terms, whatever the error on rows kept aside",
    )
    .option("--no-efficiencies", "fit host and link terms only, whatever the error on rows kept aside")
    .option("--tpot-only", "leave TTFT out of the fit: for clients or front ends that delay first tokens by what no engine step explains")
    .option("--engine <word>", `only runs of this engine: ${engineKinds.join(", ")}`)
    .option("--name <name>", "name of the profile (default: engine and file)")
    .option("--out <file>", "write the profile here, for --profile of simulate, plan and frontier")
    .option(...CARDS_FLAG)
    .option("--json", "print JSON")
    .addHelpText("after", HELP)
    .action(async (flags: CalibrateFlags) => onExit(await calibrate(flags)));
}

async function calibrate(flags: CalibrateFlags): Promise<ExitCode> {
  const wanted = engineKinds.find((kind) => kind === flags.engine);
  if (flags.engine !== undefined && wanted === undefined)
    return refuse(`--engine: "${flags.engine}" is not one of ${engineKinds.join(", ")}.`);
  if (flags.name !== undefined && (flags.name.trim() === "" || flags.name.length > MOST_PROFILE_NAME))
    return refuse(`--name: give a name of 1 to ${MOST_PROFILE_NAME} characters.`);
  const { catalogue } = readCards(flags);
  const { rows: path, kernels } = flags;
  if (kernels !== undefined && path === undefined) return reportKernels(kernels, catalogue, flags.json === true);
  if (path === undefined || kernels !== undefined) return refuse("Give one of --rows and --kernels.");
  const read = await readFile(path, (source) => importServingRows(source, catalogue));
  const { name: file, unsupported, bad } = read;
  const rows = underLimits(read.rows, readLimits(flags));
  const notRead = rowProblemTexts(file, [...unsupported, ...bad]).map((text) => `${text}.`);
  if (rows.length === 0) return refuse(`No row of ${file} can be fitted. ${notRead.slice(0, SAID_PROBLEMS).join(" ")}`);
  const engines = engineKinds.filter((kind) => (wanted ?? kind) === kind && rows.some(({ engine }) => engine === kind));
  if (engines.length === 0) return refuse(`--engine: ${file} has no run of ${flags.engine} that can be fitted.`);
  if (flags.out !== undefined && engines.length > 1)
    return refuse(`--out: ${file} has runs of ${engines.join(" and ")}; name one with --engine.`);

  const fits = engines.map((engine) => fitEngine(engine, rows, { flags, file, cards: catalogue }));
  if (flags.json === true)
    process.stdout.write(`${JSON.stringify({ fits, unsupported, bad: rowProblemTexts(file, bad).map((text) => `${text}.`) }, null, 2)}\n`);
  else {
    process.stdout.write(fits.map(describeFit).join("\n"));
    for (const sentence of notRead) process.stdout.write(`  - Left out: ${sentence}\n`);
  }
  const [first] = fits;
  if (fits.every(({ outcome }) => outcome === "refused")) return EXIT.infeasible;
  if (flags.out !== undefined && first?.outcome === "fitted") {
    try {
      writeFileSync(flags.out, `${JSON.stringify(first.profile, null, 2)}\n`);
    } catch (problem) {
      return refuse(`--out: ${flags.out} cannot be written: ${reasonOf(problem)}.`, EXIT.failed);
    }
  }
  return EXIT.done;
}

type EngineFit = ReturnType<typeof fitEngine>;

interface Asked {
  readonly flags: CalibrateFlags;
  readonly file: string;
  readonly cards: CardCatalogue;
}

function fitEngine(engine: EngineKind, all: readonly ServingRow[], { flags, file, cards }: Asked) {
  const rows = all.filter((row) => row.engine === engine);
  const base = engineProfiles[engine];
  const name = flags.name ?? `${engineNames[engine]} on ${file}`.slice(0, MOST_PROFILE_NAME);
  const asOf = new Date().toISOString().slice(0, 10);
  const id = `${engine}-${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}`.slice(0, 80);
  const { efficiencies = null, tpotOnly = false } = flags;
  const fit = chooseFit(rows, base, { efficiencies, tpotOnly, id, name, asOf, cards });
  if (fit.outcome === "refused") return { engine, file, rows: rows.length, ...fit };
  const errors = errorsByGroup(
    rows.flatMap((row) => {
      const answer = predictServing(row, fit.profile, cards);
      return answer.outcome === "predicted" ? [answer] : [];
    }),
  );
  return { engine, file, rows: rows.length, base, errorsByGroup: errors, ...fit };
}

function describeFit(fit: EngineFit): string {
  const title = `${engineNames[fit.engine]}, ${fit.rows} run${fit.rows === 1 ? "" : "s"}`;
  if (fit.outcome === "refused") return `${title}: not fitted. ${fit.reason}\n`;
  const { profile, base, trainErrors, heldOutErrors, keptAside, choice, errorsByGroup: byGroup, notFitted, outliers } = fit;
  return [
    `${title}: "${profile.name}"\n\n`,
    textTable([
      ["coefficient", "fitted", "before", "provenance"],
      ...coefficientNames.map((name) => [name, value(name, profile), value(name, base), provenanceWords(profile, name)]),
    ]),
    `\n${textTable([
      ["errors", "TTFT", "TPOT", "end to end"],
      ["rows it has seen", ...means(trainErrors)],
      ...(heldOutErrors === null ? [] : [["rows it has not seen", ...means(heldOutErrors)]]),
    ])}`,
    choice.errors === null
      ? ""
      : `\n${textTable([
          [
            `rows kept aside by ${keptAside?.by === "lengths" ? "model, GPU, shape and lengths" : "requests in flight"}`,
            "TTFT",
            "TPOT",
            "end to end",
            "decides",
          ],
          ...[choice.errors.hostTerms, choice.errors.withEfficiencies].map((errors, at) => [
            `${at === 0 ? "host and link terms only" : "efficiencies of kernels too"}${choice.efficiencies === (at === 1) ? ", taken" : ""}`,
            ...means(errors),
            share(choiceError(errors, choice.tpotOnly)),
          ]),
        ])}`,
    `\n${choiceText(choice)}\n`,
    describeErrors(byGroup, "On rows it has seen, those set aside among them, by group"),
    ...notFitted.map(({ coefficient, reason }) => `  - ${coefficient} is not fitted: ${reason}\n`),
    ...outliers.map(({ line, reason }) => `  - ${fit.file} line ${line}: set aside as a bad row, ${reason}.\n`),
    ...(heldOutErrors === null
      ? ["  - All rows are of one model, GPU, shape and lengths: nothing is said of the error at other lengths.\n"]
      : []),
  ].join("");
}

const provenanceWords = ({ provenance }: KernelProfile, name: Coefficient): string =>
  [provenance[name].kind, standardErrorWords(provenance[name])].filter((words) => words !== "").join(", ");

const value = (name: keyof KernelProfile["coefficients"], { coefficients }: KernelProfile): string =>
  hostCoefficients.includes(name) ? `${coefficients[name].toExponential(2)} s` : `x ${coefficients[name].toPrecision(3)}`;

const means = ({ ttft, tpot, endToEnd }: ProfileErrors): readonly string[] =>
  [ttft, tpot, endToEnd].map(({ rows, meanAbsolute }) => (rows === 0 ? "-" : share(meanAbsolute)));

const share = (error: number): string => `${(100 * error).toFixed(1)} %`;
