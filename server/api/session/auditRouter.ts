import { z } from "zod";
import { procedure, router } from "../base/trpc";

export const auditRouter = router({
  list: procedure.input(z.object({ limit: z.int().min(1).max(1000) })).query(({ ctx, input }) => ctx.services.audit.list(input.limit)),
});
