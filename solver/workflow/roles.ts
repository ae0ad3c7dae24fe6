import type { WorkflowStage } from "./workflow";

/** An agent's role in a workflow, independent of its position. */
export type Role = Omit<WorkflowStage, "reads">;

/**
 * Lengths measured in 87 runs of ChatDev, whose agents write programs (calls over the first code of their own run: median, and standard
 * deviation of the logarithm by its quartiles), and their instructions (median of the first prompt of each run without the task, at four
 * characters a token, and without what it reads). `server/lab/roleFigures.test.ts` recomputes them where the runs are available.
 */
export const measuredFigures = {
  /** The programmer in the phase Coding: the reference for the others. */
  firstCode: { instructionTokens: 586 },
  /** 334 comments of the code reviewer. */
  reviewComment: { lengthRatio: 0.24, lengthSpread: 0.72, instructionTokens: 314 },
  /** 332 modifications of the programmer after such a comment. */
  modification: { lengthRatio: 0.96, lengthSpread: 0.27, instructionTokens: 316 },
  /** 88 summaries of a failed test in 16 runs, by programmer or test engineer. */
  testReport: { lengthRatio: 0.33, lengthSpread: 0.75 },
  /** 71 modifications of the programmer after a failed test, in 23 runs. */
  repair: { lengthRatio: 0.93, lengthSpread: 0.58 },
  /** Share of the runs with a modification after a failed test. */
  testFails: 0.26,
} as const;

/**
 * Assumed spread of another answer of a model to the same prompt. Measured between the answers of one model that three providers
 * serve (Llama-3.1-405B; ZeroEval), as the standard deviation of the logarithm of two answers' ratio over the root of 2: 0.21 to 0.26 on
 * gsm, 0.32 to 0.38 on crux. The same test checks the former.
 */
export const RESAMPLED_SPREAD = 0.25;

/** Instructions of roles that are not in the runs: assumed, a paragraph. */
const PARAGRAPH_TOKENS = 100;

const { firstCode, reviewComment, modification, testReport, repair } = measuredFigures;

/** Its row's answer, unchanged. */
const whole = { part: "solves", lengthRatio: 1, lengthSpread: 0 } as const;
const assumed = (role: Pick<Role, "role" | "part" | "lengthRatio" | "lengthSpread">): Role => ({
  ...role,
  instructionTokens: PARAGRAPH_TOKENS,
});

export const coder: Role = { role: "coder", ...whole, ...firstCode };
export const qa: Role = { role: "qa", part: "checks", ...reviewComment };
export const revisingCoder: Role = { role: "revising-coder", part: "revises", ...modification };

/** ChatDev's planning phases name one thing each, 0.02 of the code's length together: no plan. Assumed as long as a reviewer's comment. */
export const planner: Role = assumed({ ...reviewComment, role: "planner", part: "helps" });
export const solver: Role = assumed({ ...whole, role: "solver" });
export const verifier: Role = assumed({ ...reviewComment, role: "verifier", part: "checks" });
export const revisingSolver: Role = assumed({ ...modification, role: "revising-solver", part: "revises" });

export const generator: Role = assumed({ ...whole, role: "generator" });
export const critic: Role = assumed({ ...reviewComment, role: "critic", part: "checks" });
export const refiner: Role = assumed({ ...modification, role: "refiner", part: "revises" });

export const keywordExtractor: Role = assumed({ role: "keyword-extractor", part: "helps", lengthRatio: 0.2, lengthSpread: 0.5 });
export const columnSelector: Role = assumed({ role: "column-selector", part: "helps", lengthRatio: 0.4, lengthSpread: 0.5 });
export const sqlWriter: Role = assumed({ ...whole, role: "sql-writer" });

export const voter: Role = assumed({ ...whole, role: "voter", lengthSpread: RESAMPLED_SPREAD });
export const aggregator: Role = assumed({ role: "aggregator", part: "votes", lengthRatio: 0.5, lengthSpread: 0.5 });

export const decomposer: Role = assumed({ role: "decomposer", part: "helps", lengthRatio: 0.25, lengthSpread: 0.5 });
export const partSolver: Role = assumed({ role: "part-solver", part: "solves", lengthRatio: 0.5, lengthSpread: RESAMPLED_SPREAD });
export const joiner: Role = assumed({ role: "joiner", part: "joins", lengthRatio: 0.5, lengthSpread: 0.5 });

/** A name: ChatDev's choice of a language writes 5 tokens. */
export const router: Role = assumed({ role: "router", part: "helps", lengthRatio: 0.03, lengthSpread: 0.4 });
export const mathsExpert: Role = assumed({ role: "maths-expert", part: "solves", lengthRatio: 0.6, lengthSpread: RESAMPLED_SPREAD });
export const humanitiesExpert: Role = assumed({
  role: "humanities-expert",
  part: "solves",
  lengthRatio: 1.4,
  lengthSpread: RESAMPLED_SPREAD,
});

export const researcher: Role = assumed({ role: "researcher", part: "helps", lengthRatio: 0.7, lengthSpread: 0.5 });
export const writer: Role = assumed({ ...whole, role: "writer" });

export const productManager: Role = assumed({ role: "product-manager", part: "helps", lengthRatio: 0.5, lengthSpread: 0.5 });
export const architect: Role = assumed({ role: "architect", part: "helps", lengthRatio: 0.5, lengthSpread: 0.5 });
export const projectManager: Role = assumed({ role: "project-manager", part: "helps", lengthRatio: 0.4, lengthSpread: 0.5 });
export const engineer: Role = { role: "engineer", ...whole, ...firstCode };
export const qaEngineer: Role = assumed({ ...testReport, role: "qa-engineer", part: "checks" });
export const revisingEngineer: Role = assumed({ ...repair, role: "revising-engineer", part: "revises" });
