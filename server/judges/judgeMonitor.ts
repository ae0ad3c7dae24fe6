import type { GatewayConfig } from "@/server/contracts/gateway/gatewayAdmin";
import type { ClusterJudge, JudgeRecord, JudgeTest, Outcome } from "@/server/contracts/studio";
import { readConnection } from "@/server/fleet/connection";
import type { ConnectedCluster } from "@/server/fleet/fleet";
import type { ClusterRow } from "@/server/store/clusterRepository";
import type { Store } from "@/server/store/store";
import type { FixedJudge } from "@/solver/cascade/explore/situation";
import { canonicalJson } from "@/solver/plan/canonical";
import { judgeEngineOf } from "@/solver/plan/policySchema";
import type { JudgeTarget } from "./judgeFinding";
import { judgeTimeInUse, timedTest, trafficRatio } from "./judgeInUse";
import { createJudgeTests } from "./judgeTests";
import { settledTraffic, trafficTimes } from "./trafficTimes";

type Judge = NonNullable<GatewayConfig["judge"]>;

export interface JudgeMonitorParts {
  readonly store: Pick<Store, "clusters" | "plans" | "audit">;
  readonly clusterOf: (clusterId: string) => Pick<ConnectedCluster, "seen" | "collector" | "timeScale"> | null;
}

/** What is known of the judges of clusters: tested by calls, measured in traffic, or entered. */
export interface JudgeMonitor {
  /** null: there is no such cluster. */
  of(clusterId: string): ClusterJudge | null;
  /** Calls a judge that is not attached yet; nothing is kept but for the attachment that may follow within minutes. */
  try(judge: Judge, signal: AbortSignal): Promise<JudgeTest>;
  /** Tests the judge of a cluster, and stores the result. `recent`: a test of the last minutes is sufficient. */
  measure(clusterId: string, options?: { readonly recent: boolean }): Promise<Outcome<{ readonly test: JudgeTest }>>;
  /** Takes an operator's time of a call in place of the measured one; null: takes the measured one again. */
  enter(clusterId: string, secondsPerCall: number | null, actor: string): Outcome<object>;
  /** The judge and its time for plans of a cluster, if no engine of the plan judges. */
  planned(clusterId: string): FixedJudge;
  /** Ends running tests. */
  close(): void;
}

const nothingKnown: Pick<JudgeRecord, "test" | "timed" | "traffic" | "entered"> = { test: null, traffic: null, entered: null };

/** Decisions are looked through this often at most. */
const TRAFFIC_EVERY_MS = 5_000;
/** As many as the collector keeps. */
const MOST_DECISIONS = 20_000;

export function createJudgeMonitor({ store, clusterOf }: JudgeMonitorParts): JudgeMonitor {
  const lookedAtMs = new Map<string, number>();
  const outside = new Map<string, boolean>();
  const ending = new AbortController();
  const tests = createJudgeTests(ending.signal);

  const isOutside = (planId: string): boolean => {
    const known = outside.get(planId);
    if (known !== undefined) return known;
    const plan = store.plans.get(planId);
    if (plan === null) return false;
    const found = judgeEngineOf(plan.policy) === null;
    outside.set(planId, found);
    return found;
  };

  /** Its record, restarted if another judge is in use by now. */
  function recordOf(row: ClusterRow, judge: Judge | null): JudgeRecord {
    const of = judge === null ? "" : canonicalJson(judge);
    if (row.judge !== null && row.judge.of === of) return row.judge;
    const begun: JudgeRecord = { of, since: new Date().toISOString(), ...nothingKnown };
    if (judge !== null) store.clusters.setJudge(row.id, begun);
    return begun;
  }

  function judgeOf(row: ClusterRow): Judge | null {
    const read = row.connection === null ? null : readConnection(row.connection);
    if (read?.ok) return read.value.judge;
    const seen = clusterOf(row.id)?.seen().answer;
    return seen?.ok ? (seen.value.judge ?? null) : null;
  }

  /** The record with the present times of the traffic. */
  function withTraffic(row: ClusterRow, record: JudgeRecord): JudgeRecord {
    const cluster = clusterOf(row.id);
    const nowMs = Date.now();
    // Where time runs faster than the wall's, the host's own time would count as many times.
    if (record.of === "" || cluster === null || cluster.timeScale() !== 1) return record;
    if (nowMs - (lookedAtMs.get(row.id) ?? 0) < TRAFFIC_EVERY_MS) return record;
    lookedAtMs.set(row.id, nowMs);
    const decisions = cluster.collector()?.decisions(MOST_DECISIONS) ?? [];
    const found = trafficTimes(decisions, { sinceMs: Date.parse(record.since), isOutside });
    if (found === null || found.latestAt === record.traffic?.latestAt) return record;
    const next = { ...record, traffic: settledTraffic(record.traffic, found) };
    store.clusters.setJudge(row.id, next);
    return next;
  }

  function known(row: ClusterRow): { readonly judge: Judge | null; readonly record: JudgeRecord } {
    const judge = judgeOf(row);
    return { judge, record: withTraffic(row, recordOf(row, judge)) };
  }

  /** Where a judge is called: its own address, or an attached engine of that model. */
  function targetOf(judge: Judge, row: ClusterRow | null): JudgeTarget | null {
    const { model, url, keyFromEnvironment } = judge;
    if (url !== undefined)
      return {
        model,
        url: url.replace(/\/$/, ""),
        ...(keyFromEnvironment === undefined ? {} : { key: { environment: keyFromEnvironment } }),
      };
    const read = row?.connection == null ? null : readConnection(row.connection);
    if (!read?.ok || read.value.kind !== "endpoints") return null;
    const engine = read.value.endpoints.find((endpoint) => endpoint.model === model);
    return engine === undefined ? null : { model: engine.servedName ?? model, url: engine.url, key: engine.key, caFile: engine.caFile };
  }

  return {
    of(clusterId) {
      const row = store.clusters.get(clusterId);
      if (row === null) return null;
      const { judge, record } = known(row);
      const target = judge === null ? null : targetOf(judge, row);
      const { test, traffic, entered } = record;
      const { variation: _, stale, ...planned } = judgeTimeInUse(record, Date.now());
      return {
        judge: judge === null ? null : { model: judge.model, url: judge.url ?? null },
        ...{ test, traffic, entered, planned, stale },
        testing: target !== null && tests.isRunning(target),
        trafficRatio: trafficRatio(record),
        health: clusterOf(clusterId)?.collector()?.frames().at(-1)?.gateway.judge ?? null,
      };
    },

    async try(judge, signal) {
      const target = targetOf(judge, null);
      if (target === null) throw new Error("a judge without an address is tested once its engine is attached");
      return tests.measure(target, signal);
    },

    async measure(clusterId, { recent } = { recent: false }) {
      const row = store.clusters.get(clusterId);
      if (row === null) return { ok: false, message: `There is no cluster ${clusterId}.` };
      const judge = judgeOf(row);
      if (judge === null) return { ok: false, message: `Nobody judges answers on ${row.spec.name}: name a judge in its connection.` };
      const scale = clusterOf(clusterId)?.timeScale() ?? 1;
      if (scale !== 1)
        return {
          ok: false,
          message: `Time runs ${scale} times as fast as the wall's on ${row.spec.name}: calls from here would measure this host.`,
        };
      const target = targetOf(judge, row);
      if (target === null)
        return { ok: false, message: `No address of the judge ${judge.model} is known: its time is measured in traffic, or entered.` };
      const test = (recent ? tests.recent(target) : null) ?? (await tests.measure(target, ending.signal));
      const now = store.clusters.get(clusterId);
      if (now !== null) {
        const record = recordOf(now, judge);
        store.clusters.setJudge(clusterId, { ...record, test, timed: timedTest({ test, timed: timedTest(record) }) });
      }
      return { ok: true, test };
    },

    enter(clusterId, secondsPerCall, actor) {
      const row = store.clusters.get(clusterId);
      if (row === null) return { ok: false, message: `There is no cluster ${clusterId}.` };
      const judge = judgeOf(row);
      if (judge === null) return { ok: false, message: `Nobody judges answers on ${row.spec.name}: name a judge in its connection.` };
      const at = new Date().toISOString();
      const entered = secondsPerCall === null ? null : { secondsPerCall, at, by: actor };
      store.clusters.setJudge(clusterId, { ...recordOf(row, judge), entered });
      const detail = secondsPerCall === null ? "as measured" : `${secondsPerCall} s a call, entered`;
      store.audit.add({
        at,
        actor,
        action: "set judge time",
        subject: row.spec.name,
        detail,
        objectKind: "cluster",
        objectId: clusterId,
        clusterId,
      });
      return { ok: true };
    },

    planned(clusterId) {
      const row = store.clusters.get(clusterId);
      const found = row === null ? null : known(row);
      const record = found?.record ?? nothingKnown;
      const { secondsPerCall, variation, source: latest } = judgeTimeInUse(record, Date.now());
      const settled = latest.kind === "measured-from-traffic" ? record.traffic?.settled : undefined;
      const source = settled === undefined ? latest : { kind: latest.kind, calls: settled.calls, measuredAt: settled.at };
      return {
        kind: "fixed",
        ...(found?.judge == null ? {} : { model: found.judge.model }),
        ...{ secondsPerCall, usdPerCall: 0, source },
        ...(variation === null ? {} : { variation }),
      };
    },

    close: () => ending.abort(),
  };
}
