import { z } from "zod";
import type { Answer, StepOptions } from "@/server/clusters/connector/connector";
import type { EngineHost, LookOptions } from "@/server/clusters/connector/engineHost";
import { generatedPart } from "@/server/clusters/connector/generatedPart";
import { foreignObstacle } from "@/server/clusters/connector/obstacle";
import { createMask } from "@/server/lib/secrets";
import { yamlDocuments } from "@/server/lib/yamlText";
import { type ClusterPicture, podsOf, readOrder } from "./clusterPicture";
import type { KubernetesConnection } from "./connection";
import type { KubeAnswer, KubeApi } from "./kubeApi";
import type { KubeReader, ReadOptions } from "./kubeLists";
import type { createKubeWrites } from "./kubeWrites";
import { engineObjects, type KubeObject } from "./manifests";
import { isOfCluster, objectName, orderAnnotation } from "./names";
import { collectionPath, objectPath } from "./paths";

/** As many lines as a user reads. */
const logLines = 300;
const logBytes = 256 * 1024;

const objectSchema = z.looseObject({
  kind: z.string().optional(),
  metadata: z.looseObject({
    labels: z.record(z.string(), z.string()).default({}),
    annotations: z.record(z.string(), z.string()).default({}),
  }),
});

export interface EngineTextParts {
  readonly connection: KubernetesConnection;
  readonly clusterId: string;
  readonly api: KubeApi;
  readonly lists: KubeReader;
  readonly writes: ReturnType<typeof createKubeWrites>;
  readonly picture: (options: ReadOptions) => Promise<KubeAnswer<ClusterPicture>>;
}

/**
 * An engine's objects as YAML, generated and actual, its log, and a dry run. Without the plan's label, which an engine keeps from the plan
 * that started it, and without the objects of a pool, which belong to its model.
 */
export function createEngineTexts(parts: EngineTextParts): Required<Pick<EngineHost, "generate" | "actual" | "rehearse" | "log">> {
  const { connection, clusterId, api, lists, writes, picture } = parts;
  const { namespace } = connection;

  const mask = createMask([]);
  const textOf = (objects: readonly unknown[]): string => mask(yamlDocuments(objects));
  const read = (kind: KubeObject["kind"], name: string, { signal, limitMs }: LookOptions) =>
    api({ path: objectPath(kind, namespace, name), schema: objectSchema, signal, limitMs });

  return {
    generate(engine) {
      const made = engineObjects(engine, { connection, clusterId });
      return made.ok ? { ok: true, value: textOf(made.value) } : made;
    },

    async actual(engineId, options) {
      const name = objectName(engineId);
      let running = await read("Deployment", name, options);
      if (!running.ok && running.failure === "missing") running = await read("LeaderWorkerSet", name, options);
      const service = await read("Service", name, options);
      const found: unknown[] = [];
      for (const one of [service, running]) {
        if (!one.ok && one.failure !== "missing") return { ok: false, message: one.message };
        if (one.ok && isOfCluster(one.value, clusterId)) found.push(one.value);
      }
      if (found.length === 0) return { ok: true, value: null };
      const order = running.ok ? readOrder(running.value.metadata.annotations[orderAnnotation]) : null;
      const made = order === null ? null : engineObjects(order, { connection, clusterId });
      const generated = made?.ok ? made.value : [];
      const shown = found.map((one) => {
        const like = generated.find(({ kind }) => kind === (one as { kind?: unknown }).kind);
        return like === undefined ? withoutNoise(one) : generatedPart(one, like);
      });
      return { ok: true, value: textOf(shown) };
    },

    async rehearse(engine, options: StepOptions) {
      const objects = engineObjects(engine, { connection, clusterId });
      if (!objects.ok) return objects;
      const found = await writes.patiently(() => picture({ signal: options.signal, fresh: true }), options);
      if (!found.ok) return { ok: false, message: found.message };
      const obstacle = foreignObstacle(engine, found.value, "cluster");
      if (obstacle !== null) return { ok: false, message: obstacle };
      const refusal = await writes.tryAll(objects.value, options);
      if (refusal !== null) return { ok: false, message: refusal };
      const named = objects.value.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
      return { ok: true, value: `The API server would take ${named.join(" and ")}: tried as a dry run.` };
    },

    async log(engineId, options): Promise<Answer<string>> {
      const found = await lists(options);
      if (!found.ok) return { ok: false, message: found.message };
      const pods = podsOf(engineId, found.value.pods, clusterId);
      if (pods.length === 0) return { ok: false, message: `Kubernetes has no pod of ${engineId}.` };
      const texts: string[] = [];
      for (const { metadata } of pods) {
        const path = `${collectionPath("Pod", namespace)}/${metadata.name}/log?container=engine&tailLines=${logLines}&limitBytes=${logBytes}`;
        const log = await api({ path, schema: z.string(), text: true, ...options });
        if (!log.ok) return { ok: false, message: `The log of ${metadata.name} cannot be read: ${log.message}` };
        texts.push(pods.length === 1 ? log.value : `# ${metadata.name}\n${log.value}`);
      }
      return { ok: true, value: mask(texts.join("\n")) };
    },
  };
}

/** Fields that the server sets itself. */
function withoutNoise(object: unknown): unknown {
  const { status: _, metadata, ...rest } = object as { status?: unknown; metadata: Record<string, unknown> };
  const own = ["name", "namespace", "labels", "annotations"].flatMap((key) => (metadata[key] === undefined ? [] : [[key, metadata[key]]]));
  return { ...rest, metadata: Object.fromEntries(own) };
}
