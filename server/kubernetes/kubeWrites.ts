import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { Answer, StepOptions } from "@/server/clusters/connector/connector";
import type { KubeAnswer, KubeApi } from "./kubeApi";
import type { KubeObject } from "./manifests";
import { manager } from "./names";
import { objectPath } from "./paths";

const backoffMs = { first: 250, most: 8_000 };

const appliedSchema = z.object({ metadata: z.object({ uid: z.string() }) });

/** Identifies an object for its removal. With `uid` only that object is removed, not a later one of the same name. */
export interface Removal {
  readonly kind: KubeObject["kind"];
  readonly name: string;
  readonly uid?: string;
}

/** Objects with pods stay until the pods have ended, so that their GPUs are known to be held. */
const policies = { Deployment: "Foreground", LeaderWorkerSet: "Foreground", Service: "Background", InferencePool: "Background" } as const;

/** Writes to one namespace. While the API server is away they are retried, for `awayMs` at most, and the wait is reported. */
export function createKubeWrites(api: KubeApi, namespace: string, awayMs: number) {
  async function patiently<Value>(ask: () => Promise<KubeAnswer<Value>>, { signal, report }: StepOptions): Promise<KubeAnswer<Value>> {
    const deadline = Date.now() + awayMs;
    let told = "";
    for (let pause = backoffMs.first; ; pause = Math.min(backoffMs.most, pause * 2)) {
      const answer = await ask();
      if (answer.ok || answer.failure !== "away" || Date.now() + pause > deadline) return answer;
      if (answer.message !== told) report(answer.message);
      told = answer.message;
      await sleep(pause, undefined, { signal });
    }
  }

  const apply = (object: KubeObject, dryRun: boolean, options: StepOptions) => {
    const query = `fieldManager=${manager}&force=false${dryRun ? "&dryRun=All" : ""}`;
    const path = `${objectPath(object.kind, namespace, object.metadata.name)}?${query}`;
    return patiently(() => api({ method: "PATCH", path, body: object, schema: appliedSchema, signal: options.signal }), options);
  };

  async function remove({ kind, name, uid }: Removal, options: StepOptions): Promise<Answer<string>> {
    const body = {
      apiVersion: "v1",
      kind: "DeleteOptions",
      propagationPolicy: policies[kind],
      ...(uid === undefined ? {} : { preconditions: { uid } }),
    };
    const path = objectPath(kind, namespace, name);
    const gone = await patiently(() => api({ method: "DELETE", path, body, schema: z.unknown(), signal: options.signal }), options);
    return gone.ok || gone.failure === "missing"
      ? { ok: true, value: "removed" }
      : { ok: false, message: `${kind} ${name}: ${gone.message}` };
  }

  /** A dry run of objects by the server itself; returns the reason of its first refusal, null if it would accept all. */
  async function tryAll(objects: readonly KubeObject[], options: StepOptions): Promise<string | null> {
    for (const object of objects) {
      const applied = await apply(object, true, options);
      if (!applied.ok) return refusalText(object, applied);
    }
    return null;
  }

  return {
    patiently,
    remove,
    tryAll,
    /**
     * Applies objects on the server's side, never by force, after a dry run of all of them: if one of them is refused, none is applied.
     * Kinds in `keep` only get a dry run: running objects must not be restarted because the connection was changed meanwhile.
     *
     * @returns the newly created objects, in the order of creation; also if a later one failed.
     */
    async applyAll(
      objects: readonly KubeObject[],
      keep: readonly KubeObject["kind"][],
      options: StepOptions,
    ): Promise<{ readonly refusal: string | null; readonly made: Removal[] }> {
      const made: Removal[] = [];
      const refusal = await tryAll(objects, options);
      if (refusal !== null) return { refusal, made };
      for (const object of objects.filter(({ kind }) => !keep.includes(kind))) {
        const applied = await apply(object, false, options);
        if (!applied.ok) return { refusal: refusalText(object, applied), made };
        const { kind, metadata } = object;
        if (applied.created) made.push({ kind, name: metadata.name, uid: applied.value.metadata.uid });
      }
      return { refusal: null, made };
    },
  };
}

function refusalText({ kind, metadata }: KubeObject, { failure, message }: Extract<KubeAnswer<never>, { ok: false }>): string {
  if (failure === "missing" && (kind === "LeaderWorkerSet" || kind === "InferencePool"))
    return `The cluster does not know ${kind}: its API is not installed. ${message}`;
  return ["away", "denied", "forbidden"].includes(failure) ? message : `${kind} ${metadata.name} is refused: ${message}`;
}
