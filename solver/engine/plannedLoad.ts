/**
 * Highest load of tables and plans, as a share of the rate at saturation: above it latency depends on the length of a
 * run more than on the load. A load that is served stays below it.
 */
export const PLANNED_LOAD = 0.9;
