/** roles are what a user or a token may do, the weakest first. */
export const roles = [
  { value: 'viewer', label: 'viewer: reads' },
  { value: 'operator', label: 'operator: also stops, resumes, changes policies and rules' },
  { value: 'admin', label: 'admin: everything' },
]
