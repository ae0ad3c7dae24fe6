import { expect, it } from "vitest";
import { servedRouter } from "./deprecatedProcedures";

/** Queries and subscriptions that ask nobody: they read the store, memory and uploads, and compute. */
const inside = [
  "applications.get",
  "applications.journal",
  "applications.list",
  "artefacts.list",
  "artefacts.state",
  "audit.list",
  "audit.overview",
  "audit.page",
  "batches.get",
  "batches.list",
  "calibrations.check",
  "calibrations.fit",
  "calibrations.list",
  "calibrations.liveRows",
  "calibrations.table",
  "cards.list",
  "clusters.detail",
  "clusters.gpus",
  "clusters.judge",
  "clusters.list",
  "clusters.secretsFolder",
  "declaredWorkflows.capacity",
  "declaredWorkflows.list",
  "ensembles.list",
  "ensembles.replay",
  "ensembles.samples",
  "ensembles.sessions",
  "ensembles.survey",
  "gateway.forecastControls",
  "gateway.lastChange",
  "lab.get",
  "lab.list",
  "lab.workflows",
  "labels.gates",
  "labels.next",
  "labels.ofDecision",
  "labels.trust",
  "live.measured",
  "live.plans",
  "live.quantities",
  "live.stream",
  "load.status",
  "measuring.state",
  "people.fourEyes",
  "people.list",
  "people.sessions",
  "people.tokens",
  "plans.answerScores",
  "plans.dispatch",
  "plans.examine",
  "plans.explore",
  "plans.export",
  "plans.get",
  "plans.list",
  "plans.mix",
  "plans.remaining",
  "plans.solve",
  "profiles.get",
  "profiles.list",
  "profiles.workloadInMaking",
  "prompts.list",
  "proposals.get",
  "proposals.list",
  "proposals.promises",
  "realSetup.follow",
  "realSetup.status",
  "schedules.get",
  "session.me",
  "session.whoMay",
  "workflows.waitTimes",
  "workflows.waited",
  "workloads.compare",
  "workloads.gates",
  "workloads.get",
  "workloads.lineage",
  "workloads.list",
  "workloads.uses",
] as const;

const asksGateway = "reads from the gateway of an attached cluster, at the address that was stored when it was attached";
const observes = "looks at an attached cluster, at the addresses that were stored when it was attached, and changes nothing there";
const asksPrometheus = "may read from the Prometheus that the studio's environment names";

/** Queries that ask somebody else, and why that is harmless: the caller chooses no address and causes no change. */
const outside: Readonly<Record<string, string>> = {
  "batches.preview": observes,
  "batches.room": observes,
  "clusters.engineLog": "reads the log of an engine of an attached cluster, from where the cluster keeps it",
  "ensembles.served": asksGateway,
  "gateway.capture": asksGateway,
  "gatewayKeys.list": asksGateway,
  "gatewayKeys.usage": asksGateway,
  "gateway.models": asksGateway,
  "live.range": asksPrometheus,
  "live.subjects": asksPrometheus,
  "plans.capacityDip": observes,
  "plans.diff": observes,
  "plans.dip": observes,
  "plans.generated": observes,
  "workflows.get": asksGateway,
  "workflows.of": asksGateway,
  "workflows.rounds": asksGateway,
};

it("lets a GET do nothing outside the studio: every query and subscription is listed as harmless", () => {
  // At run time a flat record by path, whatever its type says.
  const byPath = servedRouter._def.procedures as unknown as Readonly<Record<string, { readonly _def: { readonly type: string } }>>;
  const procedures = Object.entries(byPath);
  const read = procedures.filter(([, { _def }]) => _def.type !== "mutation").map(([path]) => path);
  expect(procedures.length).toBeGreaterThan(150);
  expect(read.sort()).toEqual([...inside, ...Object.keys(outside)].sort());
});
