/** Maximum size and waiting times of a learner. Beyond a bound the least recently seen is evicted. */
export interface LearnerBounds {
  readonly applications: number;
  /** Per application. */
  readonly agents: number;
  /** Per application. */
  readonly edges: number;
  /** Models for which an agent's own latencies are learnt, and models for which those of all agents are. */
  readonly modelsOfAgent: number;
  readonly models: number;
  /** Per program. Further calls contribute their own latency, and are not in the program's graph. */
  readonly callsOfProgram: number;
  readonly openPrograms: number;
  /** Over all open programs together. */
  readonly calls: number;
  /** Ended programs that are remembered, to detect late calls. */
  readonly endedPrograms: number;
  /** A program without a call in flight has ended when none arrived for so long. */
  readonly quietSeconds: number;
  /** Maximum of that time, where an application's programs continue after longer pauses. */
  readonly longestQuietSeconds: number;
  /** A program without any report for so long has ended although calls of it are recorded as in flight: their ends were never reported. */
  readonly lostSeconds: number;
  /** Two times no further apart may be in either order. */
  readonly resolutionSeconds: number;
}

/** Some 4,000 agents, about 9 KB each with one model; 200,000 calls of open programs, 0.4 to 0.6 KB each, 4 KB if it follows 64 others. */
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
