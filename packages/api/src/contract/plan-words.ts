/** The source of a planned write stop, for the API, the command line and the console. */
export const sourceOfWriteStop =
  'estimated from measurements on an idle machine; there is no bound, and a busy machine takes longer'
