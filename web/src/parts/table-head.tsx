interface TableHeadProps {
  readonly columns: readonly string[];
  /** A last column of buttons, whose name only a screen reader says. */
  readonly hasActions?: boolean;
}

export function TableHead({ columns, hasActions = false }: TableHeadProps) {
  return (
    <thead>
      <tr>
        {columns.map((label) => (
          <th key={label} scope="col">
            {label}
          </th>
        ))}
        {hasActions ? (
          <th scope="col">
            <span className="visually-hidden">Actions</span>
          </th>
        ) : null}
      </tr>
    </thead>
  );
}
