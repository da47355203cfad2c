import { Link } from '@tanstack/react-router';

/** The name of a branch, that leads to its page. */
export function BranchLink({ branch: { id, name } }: { branch: { id: number; name: string } }) {
  return (
    <Link to="/branches/$id" params={{ id: String(id) }}>
      {name}
    </Link>
  );
}
