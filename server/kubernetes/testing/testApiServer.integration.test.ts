import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ApiException, AppsV1Api, CoreV1Api, KubeConfig, PatchStrategy, setHeaderOptions, Watch } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestApiServer } from "./testApiServer";
import { kubeconfigOf, mergePatch, realKubeconfig, removeNamespace, until } from "./testKubernetes";

const serverSide = setHeaderOptions("Content-Type", PatchStrategy.ServerSideApply);

/**
 * The documented behaviour of Kubernetes' API, checked with its published client: for the stand-in, and for a real API server if one is
 * given.
 */
describe("API server under test", () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-api-server-"));
  const namespace = `weir-api-${process.pid}`;
  const config = new KubeConfig();
  let core: CoreV1Api;
  let apps: AppsV1Api;
  let close = async () => undefined as unknown;

  beforeAll(async () => {
    if (realKubeconfig === undefined) {
      const server = await startTestApiServer();
      server.tokens.add("good");
      writeFileSync(join(folder, "kubeconfig"), kubeconfigOf(server));
      close = () => server.close();
    }
    config.loadFromFile(realKubeconfig ?? join(folder, "kubeconfig"));
    core = config.makeApiClient(CoreV1Api);
    apps = config.makeApiClient(AppsV1Api);
    await core.createNamespace({ body: { metadata: { name: namespace } } });
  });
  afterAll(async () => {
    await removeNamespace(config, namespace);
    await close();
    rmSync(folder, { recursive: true });
  });

  const body = (name: string, spec: object = {}) => ({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: "one", image: "weir.test/one:1" }] } },
      ...spec,
    },
  });
  const apply = (name: string, fieldManager: string, change: { spec?: object; force?: boolean; dryRun?: string } = {}) => {
    const { spec, ...rest } = change;
    return apps.patchNamespacedDeployment({ name, namespace, fieldManager, body: body(name, spec), ...rest }, serverSide);
  };
  const refusal = async (
    call: Promise<unknown>,
  ): Promise<ApiException<{ reason: string; message: string; details: { causes: object[] } }>> => {
    const error = await call.then(
      () => null,
      (reason: unknown) => reason,
    );
    if (!(error instanceof ApiException)) throw new Error("It was not refused.");
    return { ...error, body: typeof error.body === "string" ? JSON.parse(error.body) : error.body };
  };

  it("creates what is applied, and applying it again changes not even its version", async () => {
    const first = await apply("again", "a");
    expect(first.metadata).toMatchObject({ generation: 1, managedFields: [{ manager: "a", operation: "Apply" }] });
    expect((await apply("again", "a")).metadata?.resourceVersion).toBe(first.metadata?.resourceVersion);
    expect((await apply("again", "a", { spec: { replicas: 2 } })).metadata?.generation).toBe(2);
  });

  it("refuses an applied field that another manager holds with another value, naming both, unless by force", async () => {
    await apply("contested", "a");
    const refused = await refusal(apply("contested", "b", { spec: { replicas: 3 } }));
    expect(refused.code).toBe(409);
    expect(refused.body).toMatchObject({
      reason: "Conflict",
      details: { causes: [{ message: expect.stringContaining('conflict with "a"'), field: ".spec.replicas" }] },
    });
    expect((await apps.readNamespacedDeployment({ name: "contested", namespace })).spec?.replicas).toBe(1);
    expect((await apply("contested", "b", { spec: { replicas: 3 }, force: true })).spec?.replicas).toBe(3);
    // It belongs to b now, and a, which still wants 1, is the one that is refused.
    expect((await refusal(apply("contested", "a"))).body.details.causes).toMatchObject([
      { message: expect.stringContaining('conflict with "b"') },
    ]);
  });

  it("gives fields to plain writers too, and takes back what an applier leaves out", async () => {
    await apply("edited", "a", { spec: { minReadySeconds: 5 } });
    await apps.patchNamespacedDeployment(
      { name: "edited", namespace, fieldManager: "kubectl", body: { spec: { paused: true } } },
      mergePatch,
    );
    expect((await refusal(apply("edited", "a", { spec: { paused: false } }))).body.details.causes).toMatchObject([
      { field: ".spec.paused" },
    ]);
    const { spec } = await apply("edited", "a");
    expect(spec?.paused).toBe(true);
    expect(spec?.minReadySeconds ?? 0).toBe(0);
  });

  it("changes nothing in a dry run, and refuses in it what it would refuse", async () => {
    expect((await apply("dry", "a", { dryRun: "All" })).spec?.replicas).toBe(1);
    expect((await refusal(apps.readNamespacedDeployment({ name: "dry", namespace }))).code).toBe(404);
    const unmatched = { selector: { matchLabels: { app: "else" } } };
    expect(await refusal(apply("dry", "a", { dryRun: "All", spec: unmatched }))).toMatchObject({ code: 422, body: { reason: "Invalid" } });
  });

  it("refuses a write over a version that is not the newest", async () => {
    await apply("raced", "a");
    const read = await apps.readNamespacedDeployment({ name: "raced", namespace });
    const mine = { ...read, metadata: { ...read.metadata, labels: { by: "me" } } };
    await apps.replaceNamespacedDeployment({ name: "raced", namespace, body: mine });
    expect(await refusal(apps.replaceNamespacedDeployment({ name: "raced", namespace, body: mine }))).toMatchObject({
      code: 409,
      body: { reason: "Conflict" },
    });
  });

  it("writes status apart from the rest", async () => {
    await apply("stated", "a");
    const both = { spec: { replicas: 7 }, status: { observedGeneration: 1, replicas: 1 } };
    await apps.patchNamespacedDeploymentStatus({ name: "stated", namespace, body: both }, mergePatch);
    expect(await apps.readNamespacedDeployment({ name: "stated", namespace })).toMatchObject({
      spec: { replicas: 1 },
      status: { observedGeneration: 1 },
    });
    await apps.patchNamespacedDeployment({ name: "stated", namespace, body: { status: { observedGeneration: 9 } } }, mergePatch);
    expect((await apps.readNamespacedDeployment({ name: "stated", namespace })).status?.observedGeneration).toBe(1);
  });

  it("keeps what is deleted in the foreground until its finalizer is taken away", async () => {
    await apply("leaving", "a");
    await apps.deleteNamespacedDeployment({ name: "leaving", namespace, propagationPolicy: "Foreground" });
    const { metadata } = await apps.readNamespacedDeployment({ name: "leaving", namespace });
    expect(metadata).toMatchObject({ finalizers: ["foregroundDeletion"], deletionTimestamp: expect.anything() });
    await apps.patchNamespacedDeployment({ name: "leaving", namespace, body: { metadata: { finalizers: null } } }, mergePatch);
    expect((await refusal(apps.readNamespacedDeployment({ name: "leaving", namespace }))).code).toBe(404);
  });

  it("lists by label and page by page, and tells watchers of changes since a version, with bookmarks", async () => {
    for (const name of ["one", "two", "three"]) {
      await core.createNamespacedService({
        namespace,
        body: { metadata: { name, labels: { of: "list" } }, spec: { ports: [{ port: 80 }] } },
      });
    }
    const page = await core.listNamespacedService({ namespace, labelSelector: "of=list", limit: 2 });
    expect(page.items).toHaveLength(2);
    const rest = await core.listNamespacedService({
      namespace,
      labelSelector: "of=list",
      limit: 2,
      _continue: page.metadata?._continue ?? "",
    });
    expect(rest.items).toHaveLength(1);
    const seen: string[] = [];
    const path = `/api/v1/namespaces/${namespace}/services`;
    const query = { resourceVersion: page.metadata?.resourceVersion ?? "", labelSelector: "of=list", allowWatchBookmarks: true };
    const watching = await new Watch(config).watch(
      path,
      query,
      (type, object) => seen.push(`${type} ${object.metadata.name ?? ""}`),
      () => undefined,
    );
    await core.patchNamespacedService({ name: "one", namespace, body: { metadata: { annotations: { touched: "yes" } } } }, mergePatch);
    await core.deleteNamespacedService({ name: "two", namespace });
    await until(async () => seen.includes("DELETED two"));
    expect(seen.filter((one) => !one.startsWith("BOOKMARK"))).toEqual(["MODIFIED one", "DELETED two"]);
    if (realKubeconfig === undefined) await until(async () => seen.some((one) => one.startsWith("BOOKMARK")));
    watching.abort();
  });

  it("takes no credentials but those it knows", async () => {
    const other = new KubeConfig();
    other.loadFromString(config.exportConfig());
    const cluster = other.getCurrentCluster();
    if (cluster === null) throw new Error("There is no cluster.");
    other.loadFromClusterAndUser(cluster, { name: "nobody", token: "expired" });
    expect(await refusal(other.makeApiClient(CoreV1Api).listNamespace())).toMatchObject({ code: 401 });
  });
});
