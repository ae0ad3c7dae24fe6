import type { Look } from "@/server/clusters/connector/waitUntil";
import type { KubePod, KubeRunning } from "./kubeObjects";

/** What a node says when a container cannot begin and will not by itself: an image or a Secret is not there. */
const lost = ["ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError", "CreateContainerError"];

/** A download that broke off is begun again and goes well; whoever crashes this often does so each time. */
const hopelessRestarts = 3;

/**
 * How far an engine's pods are, where they themselves say so: waiting with the reason, or failed for good. null once every container runs,
 * when the engine answers for itself. What a container wrote is not repeated: nobody knows what stands in it.
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

/** The same of one pod; for a pod that no node takes see `unplaced`. */
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

/** Why the scheduler finds no node for a pod; null where it has one, or was not asked yet. */
function unplaced(pod: KubePod): string | null {
  const scheduled = pod.status.conditions.find((one) => one.type === "PodScheduled");
  return scheduled?.status === "False" && scheduled.reason === "Unschedulable" ? scheduled.message.replace(/\.$/, "") : null;
}

function exitText({ exitCode, reason }: { readonly exitCode: number; readonly reason: string }): string {
  if (reason === "OOMKilled") return `exit code ${exitCode}, out of its memory limit`;
  return `exit code ${exitCode}${reason === "" || reason === "Error" ? "" : ` (${reason})`}`;
}

const sentence = (text: string): string => text.slice(0, 300).replace(/\.?$/, ".");
