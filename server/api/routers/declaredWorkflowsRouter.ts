import { z } from "zod";
import { capacityRequestSchema, workflowTextSchema } from "@/server/contracts/studio/declaredWorkflows";
import { never, procedureFor, router } from "./trpc";

export const declaredWorkflowsRouter = router({
  list: procedureFor("read").query(({ ctx }) => ctx.services.declaredWorkflows.list()),
  // A mutation: texts are too long for the URL of a query.
  read: procedureFor("prepare")
    .input(workflowTextSchema)
    .mutation(({ ctx, input }) => ctx.services.declaredWorkflows.read(input.text)),
  keep: procedureFor("prepare")
    .input(workflowTextSchema)
    .mutation(({ ctx, input }) => ctx.services.declaredWorkflows.keep(input.text, ctx.caller.name)),
  remove: procedureFor("prepare")
    .input(z.object({ name: z.string().min(1) }))
    .mutation(({ ctx, input }) => ctx.services.declaredWorkflows.remove(input.name, ctx.caller.name)),
  capacity: procedureFor("read")
    .input(capacityRequestSchema)
    .query(({ ctx, input, signal }) => ctx.services.declaredWorkflows.capacity(input, signal ?? never())),
});
