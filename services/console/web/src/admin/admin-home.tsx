import { Navigate } from '@tanstack/react-router';

/** Administration begins with the people. */
export function AdminHome() {
  return <Navigate to="/admin/people" replace />;
}
