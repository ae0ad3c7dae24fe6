import { serveTasks } from "@/server/threads/serveTasks";
import { tournamentFigures } from "@/solver/tournament/tournamentFigures";
import type { GatesReply, GatesTask } from "./gatesThread";
import { decodeWorkload } from "./workloadCodec";

/** Entry of a thread that compares the gates of one workload and ends. A workload does not hold how long its judge takes. */
serveTasks(({ data, share }: GatesTask): GatesReply => tournamentFigures(decodeWorkload(data), { share, judgeSeconds: null }));
