import * as roles from "./roles";
import { measuredFigures, type Role } from "./roles";
import type { Workflow, WorkflowShape, WorkflowStage } from "./workflow";

/** Each agent reads all earlier answers. */
const chain = (...agents: readonly Role[]): readonly WorkflowStage[] =>
  agents.map((agent, at) => ({ ...agent, reads: Array.from({ length: at }, (_, before) => before) }));

/** Agents that start together once the first stages have answered, and one that reads their answers. */
function fan(first: readonly Role[], agents: readonly Role[], last: Role): readonly WorkflowStage[] {
  const given = chain(...first);
  const reads = given.map((_, at) => at);
  const together = agents.map((agent): WorkflowStage => ({ ...agent, reads }));
  return [...given, ...together, { ...last, reads: together.map((_, at) => given.length + at) }];
}

/** Number of rounds after which code is accepted unchanged. */
const MOST_REPAIRS = 3;

/**
 * Three documents, code, a test of it, and as many repairs, each tested again. The repairing agent reads the documents, the last code and
 * the report on it; the testing agent, the last code.
 */
function codeWithFeedback(repairs: number): readonly WorkflowStage[] {
  const stages: WorkflowStage[] = [...chain(roles.productManager, roles.architect, roles.projectManager, roles.engineer)];
  const test = (): void => void stages.push({ ...roles.qaEngineer, reads: [stages.length - 1] });
  test();
  for (let round = 0; round < repairs; round += 1) {
    stages.push({ ...roles.revisingEngineer, reads: [0, 1, 2, stages.length - 2, stages.length - 1] });
    test();
  }
  return stages;
}

/** Shares of programs with one repair and more: every test fails with the same probability, whatever model wrote the code. */
function repairShapes(fails: number): readonly WorkflowShape[] {
  return Array.from({ length: MOST_REPAIRS }, (_, at) => {
    const repairs = at + 1;
    return { share: fails ** repairs * (repairs < MOST_REPAIRS ? 1 - fails : 1), stages: codeWithFeedback(repairs) };
  });
}

/** The share of the votes with which an ensemble's leading answer is taken as it is: two of three. */
const MAJORITY = { confidence: { kind: "plurality" }, tau: 2 / 3 } as const;

const CHIMERA_CODE =
  "Shape: Chimera, appendix A.1. Lengths and instructions of the coders and of QA: measured in ChatDev's runs (reviewer's comments and programmer's modifications over the run's first code). The planner's are assumed.";
const CHIMERA_MATHS =
  "Shape: Chimera, appendix A.1. Lengths of verifier and second solver: assumed to be those of code's review in ChatDev's runs. The planner's and all instructions are assumed.";
const ARAGOG = "Shape: Aragog, section 5.1.";
const KAIROS = "Shape: Kairos, its applications.";
const MOSAIC = "Shape: MOSAIC, section 2, with three experts.";

/**
 * Workflows that programs may run. An agent's length is relative to that of a whole answer to the program's prompt; `roles.ts` has the
 * measured parts.
 */
export const workflows: readonly Workflow[] = [
  {
    name: "planner-coder-qa-coder",
    title: "Code, planned, checked and revised",
    stages: chain(roles.planner, roles.coder, roles.qa, roles.revisingCoder),
    source: CHIMERA_CODE,
  },
  { name: "planner-coder", title: "Code, planned", stages: chain(roles.planner, roles.coder), source: CHIMERA_CODE },
  { name: "coder", title: "Code at once", stages: chain(roles.coder), source: CHIMERA_CODE },
  {
    name: "planner-solver-verifier-solver",
    title: "A solution, planned, verified and revised",
    stages: chain(roles.planner, roles.solver, roles.verifier, roles.revisingSolver),
    source: CHIMERA_MATHS,
  },
  { name: "planner-solver", title: "A solution, planned", stages: chain(roles.planner, roles.solver), source: CHIMERA_MATHS },
  { name: "solver", title: "A solution at once", stages: chain(roles.solver), source: CHIMERA_MATHS },
  {
    name: "self-refine",
    title: "An answer, criticised and refined",
    stages: chain(roles.generator, roles.critic, roles.refiner),
    source: `${ARAGOG} Lengths of critic and refiner: assumed to be those of code's review in ChatDev's runs. Instructions are assumed.`,
  },
  {
    name: "text-to-sql",
    title: "A query, by way of keywords and columns",
    stages: chain(roles.keywordExtractor, roles.columnSelector, roles.sqlWriter, roles.refiner),
    source: `${ARAGOG} The refiner's length: assumed to be that of code's revision in ChatDev's runs. All other lengths and instructions are assumed.`,
  },
  {
    name: "voting",
    title: "Four answers and a vote",
    stages: fan([], [roles.voter, roles.voter, roles.voter, roles.voter], roles.aggregator),
    source: `${ARAGOG} Voters' lengths spread as one model's answers from several providers do (ZeroEval). The aggregator's and all instructions are assumed.`,
  },
  {
    name: "ensemble",
    title: "Three experts, and an aggregator that is skipped where two agree",
    stages: fan([], [roles.voter, roles.voter, roles.voter], { ...roles.aggregator, gate: MAJORITY }),
    source: `${MOSAIC} Lengths are those of a vote. That right answers agree, and wrong ones by chance, is modelled.`,
  },
  {
    name: "decomposition",
    title: "A problem in parts, solved side by side",
    stages: fan([roles.decomposer], [roles.partSolver, roles.partSolver, roles.partSolver], roles.joiner),
    source: `${ARAGOG} Three parts, all lengths and instructions are assumed.`,
  },
  {
    name: "qa-router",
    title: "A question, sent to one of two experts",
    stages: chain(roles.router, roles.mathsExpert),
    otherShapes: [{ share: 0.5, stages: chain(roles.router, roles.humanitiesExpert) }],
    source: `${KAIROS} That the expert for humanities writes more is its observation; by how much, half the questions to each whatever they ask, and instructions are assumed.`,
  },
  {
    name: "report",
    title: "A report, researched and written",
    stages: chain(roles.researcher, roles.writer),
    source: `${KAIROS} Lengths and instructions are assumed.`,
  },
  {
    name: "code-with-feedback",
    title: "Code by a team, repaired while tests fail",
    stages: codeWithFeedback(0),
    otherShapes: repairShapes(measuredFigures.testFails),
    source: `${KAIROS} Lengths of test reports and repairs, and that ${100 * measuredFigures.testFails} % of first tests fail: measured in ChatDev's runs. That later ones fail as often, at most ${MOST_REPAIRS} times and whatever model wrote the code, and lengths of documents are assumed.`,
  },
];
