import { type ProcessUse, processTree, usedBetween } from "../../lib/processTree";

/** What serves answers, each on engines and ports of its own. */
export const roles = ["small", "large", "judge"] as const;

/** Processor seconds by what used them. */
export type CoreUse = Readonly<Record<(typeof roles)[number], number>>;

/** Ports on which the processes of a role listen. */
export type RolePorts = Readonly<Record<(typeof roles)[number], readonly string[]>>;

/** All processes of the machine: engines are started apart from the bench. */
export const snapshot = (): readonly ProcessUse[] => processTree(1);

/** Processor seconds that engines and judge used between two snapshots, by the ports in their command lines. */
export function coreUse(before: readonly ProcessUse[], after: readonly ProcessUse[], ports: RolePorts): CoreUse {
  const used = (role: keyof RolePorts): number =>
    ports[role].reduce((sum, port) => sum + usedBetween(before, after, ` --port ${port} `), 0);
  return { small: used("small"), large: used("large"), judge: used("judge") };
}
