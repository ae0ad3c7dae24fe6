import { writeFileSync } from "node:fs";
import type { Command } from "commander";
import { createAnswerLabelService, type ServedAnswers } from "@/server/api/answerLabels/answerLabelService";
import { reroutePlan } from "@/server/api/plans/reroutePlan";
import { type Decision, decisionSchema, gatewayConfigSchema } from "@/server/contracts/gateway/gatewayAdmin";
import type { LabelledGate, LabelledGates } from "@/server/contracts/studio";
import { embeddedClusterId } from "@/server/fleet/fleet";
import type { Store } from "@/server/store/store";
import { wholePercent } from "@/solver/wording/wording";
import { textTable } from "../describe/textTable";
import { EXIT, type ExitCode, must, refuse } from "../flags/exitCodes";
import { withStore } from "../flags/withStore";
import { gatewayAdmin } from "./gatewayAdmin";
import { readLabels } from "./readLabels";

interface ClusterFlags {
  readonly cluster: string;
}

interface RecalibrateFlags extends ClusterFlags {
  readonly json?: boolean;
  readonly write?: string;
}

/** Who labels, in the studio's records. */
const ACTOR = "command line";

/** `weir gates label` and `weir gates recalibrate`: labels of answers that a gateway served, in the store of this machine's studio. */
export function addLabelGates(gates: Command, onExit: (code: ExitCode) => void): void {
  const withCluster = (command: Command): Command =>
    command.option("--cluster <id>", "the cluster of the gateway that WEIR_GATEWAY_ADMIN_URL names", embeddedClusterId);
  withCluster(gates.command("label <file>"))
    .description("keep labels of served answers (CSV: decision_id, quality 0 to 100; model for the answer of an earlier stage)")
    .action(async (file: string, flags: ClusterFlags) => onExit(await label(file, flags)));
  withCluster(gates.command("recalibrate"))
    .description("show what labels of served answers say of the gates in force, and write the plan with new calibrations")
    .option("--write <file>", "write the plan in force with the new calibrations (JSON), to be imported, approved and applied")
    .option("--json", "print JSON")
    // `weir gates` has flags of these names too, which takes them wherever they stand.
    .action(async (_: RecalibrateFlags, command: Command) => onExit(await recalibrate(command.optsWithGlobals<RecalibrateFlags>())));
}

async function label(file: string, { cluster }: ClusterFlags): Promise<ExitCode> {
  const { labels } = must(await readLabels(file));
  const decisions = await decisionsOf(new Set(labels.map(({ decisionId }) => decisionId)));
  const { kept, note } = await withStore((store) =>
    must(serviceOf(store, { decisions: () => decisions, routing: () => null }).label(cluster, labels, ACTOR)),
  );
  process.stderr.write(`${kept} ${kept === 1 ? "label is" : "labels are"} kept.${note === null ? "" : ` ${note}`}\n`);
  return EXIT.done;
}

async function recalibrate({ cluster, json, write }: RecalibrateFlags): Promise<ExitCode> {
  const routing = await routingNow();
  return withStore((store) => {
    const service = serviceOf(store, { decisions: () => [], routing: () => routing }, write);
    const { labelled } = must(service.gates(cluster));
    process.stdout.write(json === true ? `${JSON.stringify(labelled, null, 2)}\n` : describeLabelledGates(labelled));
    if (write === undefined) return EXIT.done;
    must(service.recalibrate({ clusterId: cluster, planId: labelled.planId }, ACTOR));
    process.stderr.write(`${write} is the plan in force with the new calibrations: import, approve and apply it.\n`);
    return EXIT.done;
  });
}

/** The service over the store, whose new plans are written to a file: the studio keeps those that are imported. */
function serviceOf(store: Store, answers: ServedAnswers, file = "") {
  return createAnswerLabelService({
    store,
    answersOf: () => answers,
    plans: {
      reroute({ planId, notes, ...routing }) {
        const base = store.plans.get(planId);
        if (base === null) return { ok: false, message: `There is no plan ${planId}.` };
        const made = reroutePlan(base, routing, notes);
        if (!made.ok) return made;
        try {
          writeFileSync(file, `${JSON.stringify(made.plan, null, 2)}\n`);
        } catch {
          return { ok: false, message: `${file} cannot be written.` };
        }
        return { ok: true, id: made.plan.id };
      },
    },
  });
}

/** The records of these decisions that the gateway still has. */
async function decisionsOf(ids: ReadonlySet<string>): Promise<readonly Decision[]> {
  const call = gatewayAdmin();
  const decisions: Decision[] = [];
  for (const id of ids) {
    const answer = await call(`/decisions/${encodeURIComponent(id)}`, { schema: decisionSchema, alsoFine: [404] });
    if (!answer.ok) return refuse(answer.message, EXIT.failed);
    if (answer.value.value !== null) decisions.push(answer.value.value);
  }
  return decisions;
}

/** What the gateway serves: thresholds may have been changed since its plan was applied. null: it serves nothing. */
async function routingNow(): Promise<ReturnType<ServedAnswers["routing"]>> {
  const schema = gatewayConfigSchema.pick({ planId: true, policy: true });
  const answer = await gatewayAdmin()("/config", { schema, alsoFine: [404] });
  return answer.ok ? answer.value.value : refuse(answer.message, EXIT.failed);
}

/** What labels of served answers say of the gates in force, as terminal text. */
function describeLabelledGates({ planId, needed, gates }: LabelledGates): string {
  return [
    `Gates of the plan ${planId.slice(0, 8)}, by labels of the answers that they scored. A new calibration needs ${needed.all} new labels, ${needed.ofEach} of good answers and ${needed.ofEach} of bad ones.\n\n`,
    textTable([
      ["gate", "new labels", "good", "bad", "earlier", "ECE in force", "ECE new", "fall of Brier score", "accepted"],
      ...gates.map(rowOf),
    ]),
  ].join("");
}

function rowOf({ stage, model, gate, labels, good, bad, earlier, fitted }: LabelledGate): readonly string[] {
  const accepted = fitted?.accepted ?? null;
  return [
    `${stage} ${model}: ${gate}`,
    ...[labels, good, bad, earlier].map(String),
    fitted?.before.error.toFixed(1) ?? "-",
    fitted?.after.error.toFixed(1) ?? "-",
    fitted === null ? "-" : `${fitted.gain.value.toFixed(3)} (${fitted.gain.low.toFixed(3)} to ${fitted.gain.high.toFixed(3)})`,
    accepted === null ? "-" : `${wholePercent(accepted.before)} to ${wholePercent(accepted.after)}`,
  ];
}
