import { memo } from "react";

const width = 100;
const height = 24;

interface SparklineProps {
  values: readonly number[];
  /** The text for a screen reader. */
  label: string;
  /** The value at the top; the greatest one unless given. */
  max?: number | undefined;
}

export const Sparkline = memo(function Sparkline({ values, label, max }: SparklineProps) {
  const top = Math.max(max ?? 0, ...values, Number.EPSILON);
  const step = width / Math.max(1, values.length - 1);
  const points = values.map((value, index) => {
    const y = height - 2 - (value / top) * (height - 4);
    return `${(index * step).toFixed(1)},${y.toFixed(1)}`;
  });
  return (
    <svg
      className="parts-spark"
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- the drawing is part of the page, so no image file stands for it
      role="img"
      aria-label={label}
    >
      {points.length > 1 ? (
        <polyline
          points={points.join(" ")}
          fill="none"
          stroke="currentColor"
          strokeWidth="1.5"
          vectorEffect="non-scaling-stroke"
        />
      ) : null}
    </svg>
  );
});
