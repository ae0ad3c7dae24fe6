import type { Look } from "@/server/clusters/connector/waitUntil";
import type { KubePod, KubeRunning } from "./kubeObjects";

/** A node's reasons for a container that cannot start and will not by itself: an image or a Secret is missing. */
const lost = ["ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError", "CreateContainerError"];

/** An interrupted download is restarted and succeeds; a process that crashes this often does so each time. */
const hopelessRestarts = 3;

/**
 * Progress of an engine's pods from their own status: waiting with the reason, or permanently failed. null once every container runs, when
 * the engine answers itself. A container's output is not repeated: its content is unknown.
 */
export function engineLook(running: KubeRunning, pods: readonly KubePod[]): Look | null {
  const conditions = running.status.conditions;
  const late = conditions.find((one) => one.type === "Progressing" && one.reason === "ProgressDeadlineExceeded");
  const refused = conditions.find((one) => one.type === "ReplicaFailure" && one.status === "True");
  const looks = pods.map(podLook);
  const failed = looks.find((look) => look !== null && "failed" in look);
  if (failed) return failed;
  if (refused !== undefined) return { failed: `Kubernetes makes no pod for it: ${sentence(refused.message)}` };
  if (late !== undefined) return { failed: `Kubernetes gave it up after its progress deadline: ${sentence(late.message)}` };
  if (pods.length === 0) return { waiting: "Kubernetes has made no pod for it yet" };
  return looks.find((look) => look !== null) ?? null;
}

/** The same for one pod; for a pod without a node see `unplaced`. */
function podLook(pod: KubePod): Look | null {
  const refusal = unplaced(pod);
  if (refusal !== null) return { waiting: `no node takes it: ${refusal}` };
  for (const { ready, state, lastState, restartCount } of pod.status.containerStatuses) {
    if (ready) continue;
    const waiting = state.waiting;
    const ended = state.terminated ?? lastState.terminated;
    const how = ended === undefined ? "" : `it ended with ${exitText(ended)}`;
    if (waiting?.reason === "CrashLoopBackOff" && restartCount >= hopelessRestarts)
      return { failed: `The engine keeps crashing: ${how}, ${restartCount} times so far.` };
    if (waiting !== undefined && lost.includes(waiting.reason))
      return {
        failed: `Its container cannot be made: ${waiting.reason}${waiting.message === "" ? "." : `, ${sentence(waiting.message)}`}`,
      };
    if (how !== "") return { waiting: `${how}, ${restartCount} times so far, and is begun again` };
    if (waiting !== undefined) return { waiting: `its container is being made (${waiting.reason})` };
  }
  if (pod.status.containerStatuses.length === 0) return { waiting: "its node has not taken it up yet" };
  return null;
}

/** Why the scheduler finds no node for a pod; null if it has one, or was not scheduled yet. */
function unplaced(pod: KubePod): string | null {
  const scheduled = pod.status.conditions.find((one) => one.type === "PodScheduled");
  return scheduled?.status === "False" && scheduled.reason === "Unschedulable" ? scheduled.message.replace(/\.$/, "") : null;
}

function exitText({ exitCode, reason }: { readonly exitCode: number; readonly reason: string }): string {
  if (reason === "OOMKilled") return `exit code ${exitCode}, out of its memory limit`;
  return `exit code ${exitCode}${reason === "" || reason === "Error" ? "" : ` (${reason})`}`;
}

const sentence = (text: string): string => text.slice(0, 300).replace(/\.?$/, ".");
