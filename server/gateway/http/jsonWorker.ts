import { serveTasks } from "@/server/threads/serveTasks";

/** Entry of the thread that parses long bodies. */
serveTasks((bytes: Uint8Array): unknown => JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8")));
