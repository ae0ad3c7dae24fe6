import { type Command, Option } from "commander";
import { answerParts, confidenceMeasures } from "@/solver/gates/gateDocument";
import { tournamentFigures } from "@/solver/tournament/tournamentFigures";
import { SHARE_BOUNDS, USUAL_SHARE } from "@/solver/tournament/tournamentLimits";
import { describeTournament } from "../describe/describeTournament";
import { EXIT, type ExitCode, must, refuse } from "../flags/exitCodes";
import { listFlag, numberFlag, USUAL_TEMPERATURE } from "../flags/flagValues";
import { readCards, readWorkload, type WorkloadFlags, withWorkloadFlags } from "../flags/workloadFlags";
import { addLabelGates } from "./labelGates";
import { type GateChoice, writeGates } from "./writeGates";

interface GatesFlags extends WorkloadFlags {
  readonly share: number;
  readonly judgeSeconds?: number;
  readonly json?: boolean;
  readonly write?: string;
  readonly stage?: number;
  readonly gate?: string;
  readonly measure?: NonNullable<GateChoice["measure"]>;
  readonly answer?: NonNullable<GateChoice["answer"]>;
  readonly samples?: number;
  readonly temperature: number;
  readonly peers?: readonly string[];
}

const HELP = `
Compares what could accept or escalate the answers of each stage: the judge's scores, the columns confidence and agreement where the table
has them, a scorer of lengths and probabilities that is trained on the labels, one that reads words too where a profile stored texts, and
confidence with the judge for doubtful answers alone where both are measured, at the best of nine pairs of bounds. Every gate is calibrated on 70 % of the prompts and measured on the other 30 %:
AUC, expected calibration error before and after, area under the risk-coverage curve (lower is better), and points of quality above
random escalation at the same share. The best gate of a stage is chosen on the 70 % alone, and tested on the other 30 %.`;

const WRITE_HELP = `
--write puts the best gate of each stage that has a threshold, or those that --stage and --gate name, into a plan or a policy (JSON), with its
calibration and a scorer's weights. The file is rewritten; a plan keeps its figures, with a note, and gets another id. Thresholds stay as they
are. Modelled scores are not written.`;

/** `weir gates`: a tournament of gates on a workload, held out. */
export function addGatesCommand(program: Command, onExit: (code: ExitCode) => void): void {
  const command = program.command("gates");
  withWorkloadFlags(command)
    .description("compare gates (judge, confidence, agreement, scorer, sequence) on a workload's held-out prompts")
    .option(
      "--share <share>",
      "share of answers sent on, at which gates are compared with random escalation",
      numberFlag(SHARE_BOUNDS),
      USUAL_SHARE,
    )
    .option("--judge-seconds <s>", "time of one judge call, for the column of costs", numberFlag({ min: 0, max: 3600 }))
    .option("--write <file>", "put gates into this plan or policy (JSON), which a gateway then serves")
    .option("--stage <n>", "with --write: only the gate of this stage", numberFlag({ min: 1, max: 100, whole: true }))
    .option("--gate <name>", "with --write: this gate of the tournament (default: the one that it chooses)")
    .addOption(
      new Option(
        "--measure <measure>",
        "with --write: how the column confidence was made (default: as the workload says, else minimum)",
      ).choices(confidenceMeasures),
    )
    .addOption(
      new Option(
        "--answer <part>",
        "with --write: the part of answers that agreement compares (default: as the workload says, else whole)",
      ).choices(answerParts),
    )
    .option(
      "--samples <n>",
      "with --write: further answers of the same model in the column agreement (default: as the workload says)",
      numberFlag({ min: 1, max: 8, whole: true }),
    )
    .option("--temperature <t>", "with --write: of those samples", numberFlag({ min: 0, max: 2 }), USUAL_TEMPERATURE)
    .option(
      "--peers <list>",
      "with --write: other models in the column agreement, comma separated (default: as the workload says)",
      listFlag,
    )
    .option("--json", "print JSON")
    .addHelpText("after", HELP)
    .addHelpText("after", WRITE_HELP)
    .action(async (flags: GatesFlags) => onExit(await gates(flags)));
  addLabelGates(command, onExit);
}

async function gates(flags: GatesFlags): Promise<ExitCode> {
  if (flags.write === undefined && (flags.stage ?? flags.gate) !== undefined)
    return refuse("--stage and --gate say which gate is written: give the plan or policy with --write.");
  const { workload } = must(await readWorkload(flags, readCards(flags).catalogue));
  const compared = tournamentFigures(workload, { share: flags.share, judgeSeconds: flags.judgeSeconds ?? null });
  if (!compared.ok) return refuse(compared.message);
  const { tournament } = compared;
  process.stdout.write(flags.json === true ? `${JSON.stringify(tournament, null, 2)}\n` : describeTournament(tournament));
  if (flags.write === undefined) return EXIT.done;
  const { written } = must(writeGates(flags.write, tournament, choiceOf(flags)));
  process.stderr.write(written.map((line) => `${line}\n`).join(""));
  return EXIT.done;
}

const choiceOf = ({ samples, temperature, ...flags }: GatesFlags): GateChoice => ({
  ...flags,
  ...(samples === undefined ? {} : { samples: { count: samples, temperature } }),
});
