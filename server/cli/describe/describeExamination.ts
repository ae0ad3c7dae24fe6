import type { Examination, SensitivityCase } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";
import { describeBetter } from "./describeBetter";
import { textTable } from "./textTable";

/** The answer to a question about a plan as terminal text for an operator. */
export function describeExamination(examination: Examination, plan: Plan): string {
  if (examination.kind === "prices") return describePrices(examination);
  if (examination.kind === "sensitivity") return describeSensitivity(examination.cases);
  return describeBaselines(examination) + describeBetter(plan, examination);
}

function describePrices({ latencySeconds, qualityFloor, gpus, quality, constraints }: Extract<Examination, { kind: "prices" }>): string {
  const row = (says: string, other: number | null, none?: string): readonly string[] => [
    says,
    other === null && none !== undefined ? none : seconds(other),
    change(other, latencySeconds),
  ];
  return titled("Prices", [
    ["with", "latency", "against the plan's"],
    ...gpus.map((one) => row(`${one.more} ${one.gpu} more, same thresholds`, one.latencySeconds)),
    ...quality.map((one) =>
      row(
        `a floor of ${(qualityFloor ?? 0) + one.points} (${one.points > 0 ? "+" : ""}${one.points})`,
        one.latencySeconds,
        "no plan found",
      ),
    ),
    ...constraints.map((one) => row(`without "${one.says}"`, one.latencySeconds)),
  ]);
}

function describeSensitivity(cases: readonly SensitivityCase[]): string {
  return titled("Sensitivity", [
    ["if", "this plan", "quality", "new plan", "quality", ""],
    ...cases.map(({ says, keeps, routingChanges, deploymentChanges, kept, replanned }) => [
      says,
      seconds(kept.latencySeconds),
      kept.quality.toFixed(1),
      replanned === null ? "-" : seconds(replanned.latencySeconds),
      replanned === null ? "-" : replanned.quality.toFixed(1),
      [
        keeps ? "keeps what was asked" : "breaks what was asked",
        ...(routingChanges ? ["routing would change"] : []),
        ...(deploymentChanges ? ["deployment would change"] : []),
      ].join(", "),
    ]),
  ]);
}

function describeBaselines({ planHeldOut, systems, refused }: Extract<Examination, { kind: "baselines" }>): string {
  return [
    titled("Baselines, on the planning prompts and on held-out ones", [
      ["system", "cascade", "GPUs", "quality", "latency", "$ a request", "held out: quality", "latency"],
      ["this plan", "", "", "", "", "", planHeldOut.quality.toFixed(1), seconds(planHeldOut.latencySeconds)],
      ...systems.map((system) => [
        system.name,
        system.cascade,
        String(system.gpus),
        system.quality.toFixed(1),
        seconds(system.latencySeconds),
        system.costUsdPerRequest.toPrecision(3),
        system.heldOut === null ? "-" : system.heldOut.quality.toFixed(1),
        system.heldOut === null ? "-" : seconds(system.heldOut.latencySeconds),
      ]),
    ]),
    ...refused.map(({ name, reason }) => `  ${name}: ${reason}\n`),
  ].join("");
}

const titled = (title: string, rows: readonly (readonly string[])[]): string => `\n${title}\n${textTable(rows)}`;

const seconds = (value: number | null): string => (value === null ? "overloaded" : `${value.toPrecision(3)} s`);

function change(other: number | null, own: number): string {
  if (other === null) return "-";
  const percent = Math.round(100 * (other / own - 1));
  return `${percent > 0 ? "+" : ""}${percent} %`;
}
