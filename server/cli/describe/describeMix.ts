import type { MixBeside } from "@/server/contracts/studio";
import type { MixPredictions, Plan } from "@/solver/plan/plan";
import { counted, wholePercent } from "@/solver/wording/wording";
import { textTable } from "./textTable";

/** Figures of a mix by class, and loads and prices by model; nothing where a plan was made for none. */
export function describeMix({ predictions: { mix } }: Pick<Plan, "predictions">): string {
  if (mix === undefined) return "";
  const models = [
    ["model", "load", "busy", "price"],
    ...mix.models.map(({ model, load, busyShare, price }) => [model, wholePercent(load), wholePercent(busyShare), price.toFixed(2)]),
  ];
  return [
    `\n${classTable(mix.classes)}\n${textTable(models)}`,
    `\n  rates may rise to ${mix.factor.toFixed(2)} times these; a price is the percent by which they may rise for 1 % more of a model's capacity\n`,
    "  figures are of this policy, simulated under the mix; outcomes of workflows are modelled\n",
  ].join("");
}

/** The same mix on what runs. */
export function describeBeside(beside: MixBeside | null): string {
  if (beside === null) return "";
  const of = `The same mix on what runs (${counted(beside.gpus, "GPU")}, with the cascade and configurations that are best there)`;
  if (beside.kind === "not-served") return `\n${of}: ${beside.message}\n`;
  const { meanSeconds, p95Seconds, quality, factor, classes } = beside;
  const figures = `mean ${seconds(meanSeconds)}, p95 ${seconds(p95Seconds)}${quality === null ? "" : `, quality ${quality.toFixed(1)}`}`;
  return `\n${of}: ${figures}; rates may rise to ${factor.toFixed(2)} times these\n\n${classTable(classes)}`;
}

const classTable = (classes: MixPredictions["classes"]): string =>
  textTable([
    ["class", "per second", "floor", "quality", "mean", "p95"],
    ...classes.map(({ name, perSecond, qualityFloor, quality, meanSeconds, p95Seconds }) => [
      ...[name, String(Number(perSecond.toPrecision(4))), qualityFloor.toFixed(1), quality === null ? "-" : quality.toFixed(1)],
      ...[seconds(meanSeconds), seconds(p95Seconds)],
    ]),
  ]);

const seconds = (value: number): string => `${value.toPrecision(3)} s`;
