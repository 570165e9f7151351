// Stored files once more, in OpenStack Swift.
import '../support/settings/environment.js';
import '../support/settings/swift-environment.js';
import '../files/stored-files.test.js';
