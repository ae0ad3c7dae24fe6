import { z } from "zod";

/** The fields that are read of objects: only the used ones of each kind. */
const metadata = z.object({
  name: z.string(),
  uid: z.string(),
  labels: z.record(z.string(), z.string()).default({}),
  annotations: z.record(z.string(), z.string()).default({}),
  deletionTimestamp: z.string().optional(),
  generation: z.int().optional(),
});

const condition = z.object({ type: z.string(), status: z.string(), reason: z.string().default(""), message: z.string().default("") });

export const nodeSchema = z.object({
  metadata,
  spec: z.object({ unschedulable: z.boolean().default(false) }).default({ unschedulable: false }),
  status: z.object({
    allocatable: z.record(z.string(), z.string()).default({}),
    conditions: z.array(condition).default([]),
    addresses: z.array(z.object({ type: z.string(), address: z.string() })).default([]),
  }),
});

const requests = z
  .object({ requests: z.record(z.string(), z.union([z.string(), z.number()])).optional() })
  .default({})
  .transform(({ requests: found }) => found ?? {});

const ended = z.object({ exitCode: z.int(), reason: z.string().default("") });

export const podSchema = z.object({
  metadata,
  spec: z.object({
    nodeName: z.string().optional(),
    containers: z.array(z.object({ resources: requests })),
    initContainers: z.array(z.object({ resources: requests })).default([]),
  }),
  status: z
    .object({
      phase: z.string().default(""),
      conditions: z.array(condition).default([]),
      containerStatuses: z
        .array(
          z.object({
            ready: z.boolean().default(false),
            restartCount: z.int().default(0),
            state: z
              .object({
                waiting: z.object({ reason: z.string().default(""), message: z.string().default("") }).optional(),
                terminated: ended.optional(),
              })
              .default({}),
            lastState: z.object({ terminated: ended.optional() }).default({}),
          }),
        )
        .default([]),
    })
    .default({ phase: "", conditions: [], containerStatuses: [] }),
});

/** Both Deployments and LeaderWorkerSets. */
export const runningSchema = z.object({
  metadata,
  status: z.object({ conditions: z.array(condition).default([]) }).default({ conditions: [] }),
});

export const serviceSchema = z.object({
  metadata,
  spec: z.object({ ports: z.array(z.object({ nodePort: z.int().optional() })).default([]) }),
});

export type KubeNode = z.infer<typeof nodeSchema>;
export type KubePod = z.infer<typeof podSchema>;
export type KubeRunning = z.infer<typeof runningSchema>;
export type KubeService = z.infer<typeof serviceSchema>;

export const listOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ metadata: z.object({ continue: z.string().optional() }).default({}), items: z.array(item) });
