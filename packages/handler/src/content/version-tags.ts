/** Whether `If-Match` or `If-None-Match` names this version, or any by `*`; weak and strong tags are alike. */
export function namesVersion(tags: string, versionId: string): boolean {
  return tags.split(',').some((tag) => ['*', `"${versionId}"`].includes(tag.trim().replace(/^W\//, '')))
}
