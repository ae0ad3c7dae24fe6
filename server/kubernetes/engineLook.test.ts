import { describe, expect, it } from "vitest";
import { engineLook } from "./engineLook";
import { podSchema, runningSchema } from "./kubeObjects";

const metadata = { name: "engine", uid: "1" };
const running = (...conditions: object[]) => runningSchema.parse({ metadata, status: { conditions } });
const pod = (status: object) => podSchema.parse({ metadata, spec: { containers: [{}] }, status });
const container = (state: object, more: object = {}) =>
  pod({ phase: "Pending", containerStatuses: [{ ready: false, restartCount: 3, state, ...more }] });
const late = { type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded", message: "ReplicaSet has timed out progressing." };
const quota = { type: "ReplicaFailure", status: "True", reason: "FailedCreate", message: "exceeded quota: gpus" };

describe("what Kubernetes says of an engine", () => {
  it.each([
    ["that has no pod yet", running(), [], { waiting: "Kubernetes has made no pod for it yet" }],
    ["whose pods a quota forbids", running(quota), [], { failed: "Kubernetes makes no pod for it: exceeded quota: gpus." }],
    [
      "that is past its progress deadline",
      running(late),
      [pod({})],
      { failed: "Kubernetes gave it up after its progress deadline: ReplicaSet has timed out progressing." },
    ],
    [
      "that no node takes",
      running(),
      [pod({ conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/2 nodes are available." }] })],
      { waiting: "no node takes it: 0/2 nodes are available" },
    ],
    ["whose node has not begun", running(), [pod({})], { waiting: "its node has not taken it up yet" }],
    [
      "whose image is being pulled",
      running(),
      [container({ waiting: { reason: "ContainerCreating" } })],
      { waiting: "its container is being made (ContainerCreating)" },
    ],
    [
      "whose Secret is missing",
      running(),
      [container({ waiting: { reason: "CreateContainerConfigError", message: 'secret "hugging-face" not found' } })],
      { failed: 'Its container cannot be made: CreateContainerConfigError, secret "hugging-face" not found.' },
    ],
    [
      "that keeps crashing",
      running(),
      [container({ waiting: { reason: "CrashLoopBackOff" } }, { lastState: { terminated: { exitCode: 137, reason: "OOMKilled" } } })],
      { failed: "The engine keeps crashing: it ended with exit code 137, out of its memory limit, 3 times so far." },
    ],
    [
      "that crashed for the first time",
      running(),
      [
        container(
          { waiting: { reason: "CrashLoopBackOff" } },
          { restartCount: 1, lastState: { terminated: { exitCode: 1, reason: "Error" } } },
        ),
      ],
      { waiting: "it ended with exit code 1, 1 times so far, and is begun again" },
    ],
    [
      "that crashed and loads again",
      running(),
      [container({ running: {} }, { lastState: { terminated: { exitCode: 1, reason: "Error" } } })],
      { waiting: "it ended with exit code 1, 3 times so far, and is begun again" },
    ],
    ["that runs and still loads", running(), [container({ running: {} })], null],
    [
      "that crashed once and serves",
      running(),
      [container({ running: {} }, { ready: true, lastState: { terminated: { exitCode: 1 } } })],
      null,
    ],
    [
      "one of whose two pods failed",
      running(),
      [container({ running: {} }), container({ waiting: { reason: "InvalidImageName" } })],
      { failed: "Its container cannot be made: InvalidImageName." },
    ],
  ])("%s", (_, object, pods, look) => {
    expect(engineLook(object, pods)).toEqual(look);
  });
});
