// Loaded before the server (--import). On SIGUSR2, a promise rejects, and nothing handles the rejection.
const key = process.env.CHARTER_TEST_SECRET;
process.on('SIGUSR2', () => {
  const error = new Error(`Planted. Bearer ${key} at postgresql://charter:hunter2@db/charter`);
  if (process.env.CHARTER_TEST_FAULT === 'rejection') void Promise.reject(Object.assign(error, { parameters: [key] }));
  else throw error;
});
