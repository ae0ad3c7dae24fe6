import { z } from "zod";
import { capacityRequestSchema, workflowTextSchema } from "@/server/contracts/studio/declaredWorkflows";
import { never, procedure, router } from "./trpc";

export const declaredWorkflowsRouter = router({
  list: procedure.query(({ ctx }) => ctx.services.declaredWorkflows.list()),
  // A mutation: texts are too long for the URL of a query.
  read: procedure.input(workflowTextSchema).mutation(({ ctx, input }) => ctx.services.declaredWorkflows.read(input.text)),
  keep: procedure.input(workflowTextSchema).mutation(({ ctx, input }) => ctx.services.declaredWorkflows.keep(input.text, ctx.session.name)),
  remove: procedure
    .input(z.object({ name: z.string().min(1) }))
    .mutation(({ ctx, input }) => ctx.services.declaredWorkflows.remove(input.name, ctx.session.name)),
  capacity: procedure
    .input(capacityRequestSchema)
    .query(({ ctx, input, signal }) => ctx.services.declaredWorkflows.capacity(input, signal ?? never())),
});
