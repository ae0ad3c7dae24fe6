import { importKernels, type KernelTable } from "@/server/planning/imports/importKernels";
import { fitAllReduce, fitDecodeAttention, fitExperts, fitGemm, fitPrefillAttention, type KernelFit } from "@/solver/calibration/kernelFit";
import type { CardCatalogue } from "@/solver/hardware/catalogue";
import { kernelRates } from "@/solver/hardware/gpuKernels";
import { measuredGpus } from "@/solver/hardware/kernelCoefficients";
import { bytesPerWeight } from "@/solver/hardware/modelCard";
import { textTable } from "../describe/textTable";
import { EXIT, type ExitCode, must } from "../flags/exitCodes";

interface FittedKernel {
  readonly gpu: string;
  readonly operator: string;
  /** Precision of the weights or the cache; for all-reduces the number of GPUs. */
  readonly of: string;
  readonly fit: KernelFit<object>;
}

/** Fits kernel coefficients to the operator tables of a folder and prints them with their median errors. */
export async function reportKernels(folder: string, { gpus }: CardCatalogue, json: boolean): Promise<ExitCode> {
  const { tables } = must(await importKernels(folder, gpus));
  const fits = tables.flatMap(fitTable);
  if (json) {
    const rows = fits.map(({ fit, ...of }) => ({ ...of, ...fit }));
    process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
    return EXIT.done;
  }
  process.stdout.write(
    textTable([
      ["GPU", "operator", "of", "rows", "median error", "mean error", "coefficients"],
      ...fits.map(({ gpu, operator, of, fit }) => [
        gpu,
        operator,
        of,
        String(fit.observations),
        percent(fit.medianAbsoluteError),
        percent(fit.meanAbsoluteError),
        Object.entries(fit.coefficients)
          .map(([name, value]) => `${name} ${Number(value).toPrecision(3)}`)
          .join(", "),
      ]),
    ]),
  );
  process.stdout.write(`\nShipped with Weir, but from tables that are not in this folder: ${elsewhere(tables).join(", ")}.\n`);
  return EXIT.done;
}

/** Kernels whose shipped coefficients cannot be reproduced from these tables. */
function elsewhere(tables: readonly KernelTable[]): readonly string[] {
  const unseen = measuredGpus.filter((id) => tables.every(({ gpu }) => gpu.id !== id));
  const expertsSeen = tables.some(({ operator }) => operator === "experts");
  return [...(expertsSeen ? [] : ["experts"]), "latent attention (MLA)", ...unseen.map((id) => `all kernels of ${id}`)];
}

const PRECISIONS = ["bf16", "fp8"] as const;

function fitTable(table: KernelTable): readonly FittedKernel[] {
  const { gpu, operator } = table;
  if (operator === "all-reduce") {
    return [...new Set(table.times.map(({ gpus }) => gpus))].map((gpus) => {
      const fit = fitAllReduce(
        table.times.filter((time) => time.gpus === gpus),
        gpu,
      );
      return { gpu: gpu.id, operator, of: `${gpus} GPUs`, fit };
    });
  }
  return PRECISIONS.flatMap((precision): readonly FittedKernel[] => {
    if (table.times[precision].length === 0) return [];
    if (operator === "experts") {
      return [
        { gpu: gpu.id, operator, of: precision, fit: fitExperts(table.times[precision], kernelRates(gpu, bytesPerWeight[precision])) },
      ];
    }
    if (operator === "gemm") {
      return [{ gpu: gpu.id, operator, of: precision, fit: fitGemm(table.times[precision], kernelRates(gpu, bytesPerWeight[precision])) }];
    }
    const fitAttention = operator === "prefill attention" ? fitPrefillAttention : fitDecodeAttention;
    return [{ gpu: gpu.id, operator, of: precision, fit: fitAttention(table.times[precision], gpu) }];
  });
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
