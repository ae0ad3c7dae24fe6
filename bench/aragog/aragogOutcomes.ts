import { mean } from "@/solver/numeric/quantile";
import { atMost, type Benchmark, type Measurement } from "../lib/benchmark";
import { dataPresent } from "../lib/compareData";
import { writeTables } from "../lib/results";
import { table } from "../lib/tables";
import { answersOf, ladders, type OutcomeFigures, outcomeFigures, STATED } from "./outcomes";

/** Programs of each workflow on each ladder. */
const PROGRAMS = 4000;

/** Share of upgrades that may lower mean quality: the source counts 8 of 288, which is 2.8 %; the models here 0.4 %. */
const MOST_VIOLATIONS_PERCENT = 1;

/** Resolution of the source: its means are over 164 prompts, and one of them is this many points. */
const SEEN_POINTS = 100 / 164;

const seenFalls = ({ violations }: OutcomeFigures): number => violations.falls.filter((fall) => fall >= SEEN_POINTS).length;

const columns = [
  "workflow",
  "answers",
  "configurations",
  "largest",
  "smallest",
  "accurate",
  "falls",
  "0.6 points and more",
  "deepest",
  "single",
];

const row = (figures: OutcomeFigures): readonly string[] => {
  const { workflow, family, task, configurations, largest, smallest, accurate, violations } = figures;
  return [
    ...[
      workflow,
      `${family}, ${task}`,
      String(configurations),
      largest.toFixed(1),
      smallest.toFixed(1),
      `${(100 * accurate).toFixed(1)} %`,
    ],
    ...[`${violations.falls.length} of ${violations.upgrades}`, String(seenFalls(figures)), (violations.falls[0] ?? 0).toFixed(2)],
    `${(100 * violations.perProgram).toFixed(2)} %`,
  ];
};

/** Modelled outcomes of configurations compared with the source's: accuracies, flexibility, and how near to monotone. */
async function outcomes(): Promise<Measurement> {
  const figures: OutcomeFigures[] = [];
  for (const ladder of ladders) figures.push(...outcomeFigures(ladder, await answersOf(ladder), { programs: PROGRAMS, seed: 1 }));
  writeTables("aragog-outcomes", [table(columns, figures.map(row))]);
  const sum = (of: (figure: OutcomeFigures) => number): number => figures.reduce((total, each) => total + of(each), 0);
  const upgrades = sum(({ violations }) => violations.upgrades);
  const percent = (of: (figure: OutcomeFigures) => number): string => (100 * mean(figures.map(of))).toFixed(1);
  const count = (of: number): string => of.toLocaleString("en");
  return {
    figure: (100 * sum(seenFalls)) / upgrades,
    unit: "% of upgrades",
    detail: [
      `lower mean quality by as much as the source can see (0.6 points): ${count(sum(seenFalls))} of ${count(upgrades)}, and ${count(sum(({ violations }) => violations.falls.length))} by anything, by ${Math.max(...figures.map(({ violations }) => violations.falls[0] ?? 0)).toFixed(2)} points at most; the mean over workflows and ladders ${percent((each) => seenFalls(each) / each.violations.upgrades)} and ${percent(({ violations }) => violations.falls.length / violations.upgrades)} %`,
      `4 workflows, ${ladders.length} ladders of measured answers, ${count(PROGRAMS)} programs each, whose outcomes are modelled (correlation ${STATED.correlation}, a wrong answer misleads ${100 * STATED.misleads} %)`,
      `${percent(({ violations }) => violations.perProgram)} % of single programs' upgrades lower its quality; ${percent(({ accurate }) => accurate)} % of a program's configurations are accurate in the mean`,
      "the source 8 of 288 upgrades (2.8 %), by 1.5 points at most",
    ].join("; "),
  };
}

export const aragogOutcomeBenchmarks: readonly Benchmark[] = dataPresent()
  ? [
      {
        name: "configuration outcomes",
        budget: atMost(MOST_VIOLATIONS_PERCENT, "stages are drawn so unlike that a larger model does worse more often"),
        run: outcomes,
      },
    ]
  : [];
