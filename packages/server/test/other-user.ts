/** The user `nobody` by its usual number: a local user that has nothing to do with Fairlead. */
export const otherUid = 65_534
