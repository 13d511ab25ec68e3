import { useEffect, useRef } from "react";
import UPlot from "uplot";
import { useTheme } from "../app/theme.ts";

interface ChartProps {
  /** A screen reader says this instead. */
  readonly label: string;
  /** Seconds since 1970, growing. */
  readonly times: readonly number[];
  readonly values: readonly number[];
  readonly format: (value: number) => string;
  readonly limit: number | undefined;
}

const height = 180;

/** Canvas knows no CSS variables, so the colours are read when the chart is made; another theme makes another chart. */
const colour = (element: Element, name: string) => getComputedStyle(element).getPropertyValue(name).trim();

export function Chart({ label, times, values, format, limit }: ChartProps) {
  const container = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot>(undefined);
  const theme = useTheme();
  const latest = useRef({ format, limit });
  latest.current = { format, limit };
  const data = useRef<UPlot.AlignedData>([[], []]);
  data.current = [[...times], [...values]];

  useEffect(() => {
    const element = container.current;
    if (!element) return undefined;
    const axis = {
      stroke: colour(element, "--text-quiet"),
      grid: { stroke: colour(element, "--line"), width: 1 },
      ticks: { stroke: colour(element, "--line"), width: 1 },
    };
    const made = new UPlot(
      {
        width: Math.max(120, element.clientWidth),
        height,
        legend: { show: false },
        cursor: { show: false },
        scales: {
          y: { range: (_, __, max) => [0, Math.max(max, latest.current.limit ?? 0, 1) * 1.05] },
        },
        axes: [
          axis,
          { ...axis, size: 70, values: (_, ticks) => ticks.map((tick) => latest.current.format(tick)) },
        ],
        series: [
          {},
          {
            stroke: colour(element, "--accent"),
            fill: colour(element, "--accent-soft"),
            width: 1.5,
            points: { show: false },
          },
        ],
      },
      data.current,
      element,
    );
    plot.current = made;
    const resized = new ResizeObserver(() =>
      made.setSize({ width: Math.max(120, element.clientWidth), height }),
    );
    resized.observe(element);
    return () => {
      resized.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, [theme]);

  useEffect(() => plot.current?.setData(data.current), [times, values]);
  // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- the drawing is part of the page, so no image file stands for it
  return <div ref={container} className="box-chart" role="img" aria-label={label} />;
}
