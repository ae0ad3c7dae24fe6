/** How much a learner holds at most, and how long it waits. Beyond a bound what was seen longest ago goes. */
export interface LearnerBounds {
  readonly applications: number;
  /** Of one application. */
  readonly agents: number;
  /** Of one application. */
  readonly edges: number;
  /** Models of which an agent's own latencies are learnt, and models of which those of all agents are. */
  readonly modelsOfAgent: number;
  readonly models: number;
  /** Of one program. Further calls teach their own latency, and are not in the program's graph. */
  readonly callsOfProgram: number;
  readonly openPrograms: number;
  /** Of all programs under way together. */
  readonly calls: number;
  /** Programs that are remembered after their end, to know calls that come too late. */
  readonly endedPrograms: number;
  /** A program without a call under way has ended when none came for so long. */
  readonly quietSeconds: number;
  /** What that grows to at most, where an application's programs go on after longer pauses. */
  readonly longestQuietSeconds: number;
  /** A program of which nothing was heard for so long has ended although calls of it are said to be under way: their ends were never told. */
  readonly lostSeconds: number;
  /** Two times no further apart may be in either order. */
  readonly resolutionSeconds: number;
}

/** Some 4,000 agents, which take about 9 KB each with one model; of programs under way 200,000 calls, which take 0.4 to 0.6 KB each, and one that follows 64 others 4 KB. */
export const learnerBounds: LearnerBounds = {
  applications: 64,
  agents: 64,
  edges: 512,
  modelsOfAgent: 16,
  models: 64,
  callsOfProgram: 256,
  openPrograms: 10_000,
  calls: 200_000,
  endedPrograms: 10_000,
  quietSeconds: 30,
  longestQuietSeconds: 600,
  lostSeconds: 3600,
  resolutionSeconds: 0.001,
};
